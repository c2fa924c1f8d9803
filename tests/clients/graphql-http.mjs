import { serverAudits } from 'graphql-http'
import { endpoint } from './scenario.mjs'

const counts = {}
for (const audit of serverAudits({ url: endpoint })) {
  const { status, reason } = await audit.fn()
  counts[status] = (counts[status] ?? 0) + 1
  if (status === 'ok') continue
  console.log(`${status} ${audit.id} ${audit.name}: ${reason}`)
  if (status === 'error') process.exitCode = 1
}
console.log(`graphql-http: ${JSON.stringify(counts)}`)
