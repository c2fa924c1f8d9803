import { defineConfig } from 'vite';

export default defineConfig({
  base: '/app/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    modulePreload: false, // its polyfill would be a second script, for nothing
    target: 'baseline-widely-available',
  },
  server: { proxy: Object.fromEntries(['/graphql', '/session', '/demo', '/app/config.json'].map((path) => [path, { target: 'http://127.0.0.1:8080', ws: true }])) },
});
