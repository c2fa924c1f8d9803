// What the pages' check.js share.
import { readdirSync, readFileSync } from 'node:fs';

const dir = new URL('../graph/schema/', import.meta.url);

// schemaText returns the server's schema.
export function schemaText() {
  const files = readdirSync(dir).filter((name) => name.endsWith('.graphqls')).sort();
  return files.map((name) => readFileSync(new URL(name, dir), 'utf8')).join('\n');
}

// check validates operations, { query, variables }, against the server's schema, with a page's own
// package graphql.
export function check({ buildSchema, getVariableValues, parse, validate }, operations) {
  const schema = buildSchema(schemaText());
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
}
