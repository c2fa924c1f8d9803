// The lists and the examples of docs/frontends.md, as they are written there.
import { readFileSync } from 'node:fs'

const guide = readFileSync('../../docs/frontends.md', 'utf8')

const block = (language, name) => {
  const found = guide.match(new RegExp('\n *```' + `${language} ${name}\n([^]*?)\n *` + '```\n'))
  if (!found) throw new Error(`the guide has no ${language} ${name}`)
  return found[1]
}

// listIn reads a block of JSON.
export const listIn = (name) => JSON.parse(block('json', name))

const AsyncFunction = (async () => {}).constructor

// example returns a block of JavaScript as a function: given values for the names that it leaves
// open, it runs the block and resolves to what this declares by the other names.
export const example = (name, ...declared) => (open = {}) => (
  new AsyncFunction(...Object.keys(open), `${block('js', name)}\nreturn { ${declared} }`)(...Object.values(open)))

// The lists of the guide, by the names that its examples use.
export const lists = { keyless: listIn('keyless'), possibleTypes: listIn('possibleTypes'), keyArgs: listIn('keyArgs') }
