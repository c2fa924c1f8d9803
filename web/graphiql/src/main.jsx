import { createRoot } from 'react-dom/client';
import { GraphiQL } from 'graphiql';
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';
import '@graphiql/react/font/fira-code.css';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './style.css';
import { fetcher, restoreSession } from './api.js';
import { exampleTabs } from './examples.js';
import { returnFocus } from './focus.js';
import { SignInBar } from './SignInBar.jsx';
import { storage } from './storage.js';
import { findSubject } from './subject.js';
import { renewTabs } from './tabs.js';

globalThis.MonacoEnvironment = {
  getWorker(_id, label) {
    if (label === 'json') return new JsonWorker();
    if (label === 'graphql') return new GraphQLWorker();
    return new EditorWorker();
  },
};

async function readConfig() {
  try {
    const response = await fetch('/graphiql/config.json');
    return response.ok ? await response.json() : {};
  } catch {
    return {};
  }
}

const { demo = null, app } = await readConfig();
await restoreSession();
const examples = exampleTabs(Boolean(demo), await findSubject(demo));
renewTabs(storage, examples);
returnFocus();
// A phone has no room for the variables; a tap on their name shows them.
const isNarrow = matchMedia('(max-width: 720px)').matches;

createRoot(document.getElementById('root')).render(
  <>
    <SignInBar demo={demo} app={app} />
    <GraphiQL
      fetcher={fetcher}
      storage={storage}
      defaultTabs={examples}
      defaultEditorToolsVisibility={isNarrow ? false : 'variables'}
    >
      <GraphiQL.Logo>
        <span />
      </GraphiQL.Logo>
    </GraphiQL>
  </>,
);
