// Drawings, because pictures of characters differ from machine to machine.
const Icon = ({ children, label }) => (
  <svg class="icon" viewBox="0 0 24 24" role={label ? 'img' : undefined} aria-label={label} aria-hidden={label ? undefined : true}>{children}</svg>
);

const face = <circle cx="12" cy="12" r="9.5" />;
const eyes = <path d="M8.5 9v1.5M15.5 9v1.5" />;
const drawings = {
  LIKE: <path d="M3 10.5h3.5V21H3zM6.5 11l4-8c1.800 0 3 1 2.700 3l-.7 3.500H19a2 2 0 0 1 2 2.300l-1.200 7A2 2 0 0 1 17.800 21H6.500" />,
  LOVE: <path d="M12 20.500S2.500 15 2.500 8.700C2.500 5.500 5 3.500 7.500 3.500c2 0 3.500 1 4.500 3 1-2 2.500-3 4.500-3 2.500 0 5 2 5 5.200 0 6.300-9.500 11.800-9.500 11.800z" />,
  LAUGH: <>{face}{eyes}<path d="M7 13.500h10a5 5 0 0 1-10 0z" /></>,
  WOW: <>{face}{eyes}<circle cx="12" cy="16" r="2" /></>,
  SAD: <>{face}{eyes}<path d="M8 17a5 5 0 0 1 8 0" /></>,
  ANGRY: <>{face}<path d="M7 8.500l3 1.500M17 8.500l-3 1.500M8.500 11.500v.5M15.500 11.500v.5M8.500 17a5 5 0 0 1 7 0" /></>,
  PUBLIC: <>{face}<path d="M2.500 12h19M12 2.500c3 3 3.500 6 3.500 9.500s-.5 6.500-3.500 9.500c-3-3-3.500-6-3.500-9.500s.5-6.500 3.500-9.500z" /></>,
  CIRCLES: <><circle cx="7" cy="8" r="4.500" /><circle cx="17" cy="8" r="4.500" /><circle cx="12" cy="16.500" r="4.500" /></>,
  LISTED: <><circle cx="9" cy="12" r="6.500" /><circle cx="15" cy="12" r="6.500" /></>,
  ONLY_ME: <path d="M5 10.500h14V21H5zM8 10.500V7a4 4 0 0 1 8 0v3.500" />,
  news: <path d="M3 11l9-8 9 8M5.500 9v12h13V9" />,
  incoming: <path d="M3 13l3-9h12l3 9v7H3zM3 13h5l1.500 3h5l1.500-3h5" />,
  notifications: <path d="M5 17V11a7 7 0 0 1 14 0v6l1.500 2h-17zM10 21.500h4" />,
  profile: <><circle cx="12" cy="8" r="4.500" /><path d="M3.500 21a8.500 8.500 0 0 1 17 0" /></>,
  settings: <><path d="M3 7h10M19 7h2M3 17h2M11 17h10" /><circle cx="16" cy="7" r="3" /><circle cx="8" cy="17" r="3" /></>,
  moderation: <path d="M12 2.500l8 3v6c0 5-3.500 8.500-8 10-4.500-1.500-8-5-8-10v-6zM8.500 12l2.500 2.500 4.500-5" />,
  search: <><circle cx="10.500" cy="10.500" r="7" /><path d="M16 16l5.500 5.500" /></>,
  comment: <path d="M3 4h18v13h-9l-5 4v-4H3z" />,
};

export const Drawing = ({ of, label }) => <Icon label={label}>{drawings[of]}</Icon>;
