import { decide } from '../../../packages/crypto/src/policy-decide.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const ruleCount = 1000
const rulesOfHost = 10
const decisionsEach = 2000

/** The processor time of one decision, in microseconds, where the last of a thousand rules of a hundred hosts decides. */
export async function policyDecide({ plan }: Bench): Promise<number> {
  const rules = Array.from({ length: ruleCount }, (_, at) => ({
    host: `api-${Math.floor(at / rulesOfHost)}.example.com`,
    methods: ['GET', 'POST'],
    paths: [`/v1/things-${at}/**`, `/v1/*/things-${at}`],
    allow: ['API_KEY'],
  }))
  const last = rules.at(-1)!
  const path = `/v1/things-${ruleCount - 1}/1?q=1`
  const operation = { host: last.host, method: 'POST', path, secret: 'API_KEY' }
  if (decide(rules, operation).ruleIndex !== ruleCount - 1) throw new Error('the last rule did not decide')
  const rounds = Array.from({ length: plan.rounds }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < decisionsEach; i++) decide(rules, operation)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / decisionsEach
  })
  say(`  fastest round ${Math.min(...rounds).toFixed(1)} µs, slowest ${Math.max(...rounds).toFixed(1)} µs`)
  return median(rounds)
}
