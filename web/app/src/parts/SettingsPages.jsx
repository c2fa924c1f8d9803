import { Link, useLocation } from 'wouter-preact';

const pages = { '/settings': 'Profile', '/settings/account': 'Account' };

// SettingsPages leads from each page of the settings to the others.
export function SettingsPages() {
  const [path] = useLocation();
  return (
    <nav class="tabs" aria-label="Settings">
      {Object.entries(pages).map(([page, title]) => <Link key={page} class="button" href={page} aria-current={page === path ? 'page' : undefined}>{title}</Link>)}
    </nav>
  );
}
