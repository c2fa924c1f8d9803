import { serverAudits } from 'graphql-http'
import { endpoint } from './scenario.mjs'

// As many as there are in the pinned version: an empty list would prove nothing.
const expected = 61

const counts = {}
const audits = serverAudits({ url: endpoint })
if (audits.length !== expected) throw new Error(`graphql-http has ${audits.length} audits, want ${expected}`)
for (const audit of audits) {
  const { status, reason } = await audit.fn()
  counts[status] = (counts[status] ?? 0) + 1
  if (status === 'ok') continue
  console.log(`${status} ${audit.id} ${audit.name}: ${reason}`)
  if (status === 'error') process.exitCode = 1
}
console.log(`graphql-http: ${JSON.stringify(counts)}`)
