import { decide } from '../../../packages/crypto/src/policy-decide.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const ruleCount = 1000
const decisionsEach = 2000

/** Rules like those of real APIs: one path begins with a name of its own, the other has it after a wildcard. */
const rulesOf = (hosts: number) =>
  Array.from({ length: ruleCount }, (_, at) => ({
    host: `api-${Math.floor((at * hosts) / ruleCount)}.example.com`,
    methods: ['GET', 'POST'],
    paths: [`/v1/things-${at}/**`, `/v1/*/things-${at}`],
    allow: ['API_KEY'],
  }))

/**
 * The processor time of one decision, in microseconds, if the last of a thousand rules decides. It is measured with a
 * hundred hosts and with one; the slower one counts.
 */
export async function policyDecide(bench: Bench): Promise<number> {
  return Math.max(...[100, 1].map((hosts) => decisionTime(bench, hosts)))
}

function decisionTime({ plan }: Bench, hosts: number): number {
  const rules = rulesOf(hosts)
  const { host } = rules.at(-1)!
  const path = `/v1/things-${ruleCount - 1}/1?q=1`
  const operation = { host, method: 'POST', path, secret: 'API_KEY' }
  if (decide(rules, operation).ruleIndex !== ruleCount - 1) throw new Error('the last rule did not decide')
  const rounds = Array.from({ length: plan.rounds }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < decisionsEach; i++) decide(rules, operation)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / decisionsEach
  })
  const [fastest, slowest] = [Math.min(...rounds), Math.max(...rounds)].map((one) => one.toFixed(1))
  say(`  ${hosts} hosts: fastest round ${fastest} µs, slowest ${slowest} µs`)
  return median(rounds)
}
