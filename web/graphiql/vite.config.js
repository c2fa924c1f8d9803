import { defineConfig } from 'vite';

export default defineConfig({
  base: '/graphiql/',
  build: {
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4000,
    license: { fileName: 'licenses.md' },
    rolldownOptions: { checks: { moduleLevelDirective: false } },
    target: 'baseline-widely-available',
  },
});
