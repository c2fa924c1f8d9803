import { render } from 'preact';
import { App } from './App.jsx';
import { SessionProvider } from './session.jsx';
import './style.css';

async function readConfig() {
  try {
    const response = await fetch('/app/config.json');
    return response.ok ? await response.json() : {};
  } catch {
    return {};
  }
}

const config = await readConfig();
const root = document.getElementById('root');
root.replaceChildren();
render(<SessionProvider config={config}><App /></SessionProvider>, root);
