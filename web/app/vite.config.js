import { buildSchema, introspectionFromSchema } from 'graphql';
import { defineConfig } from 'vite';
import { schemaText } from '../check.mjs';

// What Graphcache reads of an introspected schema: the fields of objects and interfaces. Servers
// may hide theirs, so it is built in.
function cacheSchema() {
  const { types, queryType, mutationType, subscriptionType } = introspectionFromSchema(buildSchema(schemaText()), { descriptions: false }).__schema;
  const needed = types.filter(({ kind, name }) => ['OBJECT', 'INTERFACE'].includes(kind) && !name.startsWith('__'));
  return {
    __schema: {
      queryType, mutationType, subscriptionType,
      types: needed.map(({ kind, name, fields, interfaces }) => ({ kind, name, interfaces, fields: fields.map(({ name, type }) => ({ name, type, args: [] })) })),
    },
  };
}

const schemaModule = {
  name: 'schema',
  resolveId: (id) => (id === 'virtual:schema' ? id : undefined),
  load: (id) => (id === 'virtual:schema' ? `export default JSON.parse(${JSON.stringify(JSON.stringify(cacheSchema()))});` : undefined),
};

export default defineConfig({
  base: '/app/',
  plugins: [schemaModule],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    modulePreload: false, // its polyfill would be a second script, for nothing
    target: 'baseline-widely-available',
  },
});
