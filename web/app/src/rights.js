// hasRight: the right ADMIN includes all others.
export const hasRight = (rights, right) => rights.includes(right) || rights.includes('ADMIN');
