// Validates the example operations, and those of the page itself, against the server's schema.
import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, getVariableValues, parse, validate } from 'graphql';
import { exampleTabs } from './src/examples.js';
import * as barOperations from './src/operations.js';

const dir = new URL('../../graph/schema/', import.meta.url);
const files = readdirSync(dir).filter((name) => name.endsWith('.graphqls'));
const schema = buildSchema(files.map((name) => readFileSync(new URL(name, dir), 'utf8')).join('\n'));

const subject = { newHandle: 'visitor_1', handle: 'ada', postId: 'post_1' };
const operations = [
  ...exampleTabs(true, subject),
  ...exampleTabs(false, { ...subject, postId: undefined }),
  ...Object.values(barOperations).map((query) => ({ query })),
];
let failed = 0;
for (const { query, variables } of operations) {
  const document = parse(query);
  const [operation] = document.definitions;
  const errors = [...validate(schema, document)];
  if (variables) {
    errors.push(...(getVariableValues(schema, operation.variableDefinitions, JSON.parse(variables)).errors ?? []));
  }
  for (const error of errors) console.error(`${operation.name.value}: ${error.message}`);
  if (errors.length) failed++;
}
console.log(`${operations.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
