import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { otherClock } from '../../../cli/test/clock.ts'
import { newMachine } from '../../../cli/test/machine.ts'
import { fillMachine, honestValues, names, type Open, tokenOf } from './client.ts'
import { placeOf } from './command-line.ts'
import { outcomeOf } from './outcome.ts'

/** A service that agents call. It gets the values, because the proxy shows them to nobody else. */
async function openUpstream() {
  const got: (string | undefined)[] = []
  const server = createServer((request, response) => {
    got.push(request.headers['x-value'] as string | undefined)
    response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  server.unref()
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const settings = `[egress]
allow_cidr = ["127.0.0.0/8"]
[forward]
listen = "127.0.0.1:0"
[[forward.host]]
match = "127.0.0.1"
ports = ["1-65535"]
allow = [${names.map((name) => `"${name}"`).join(', ')}]
`

/** Sends each value to the upstream in a request of its own. The proxy refuses a name without a value. */
const program = (url: string) => `for (const name of ${JSON.stringify(names)}) {
  const answer = await fetch('${url}', { headers: { 'x-value': '{{skerry:' + name + '}}' } })
  if (answer.headers.has('x-skerry-refusal')) await fetch('${url}', { headers: { 'x-value': '-' } })
}`

/** Lines about the addresses and the requests of the proxy. */
const proxysOwn = /^.*(?:proxy: http|GET 127).*$/gm

/** Runs an agent’s program behind the proxy, on a fresh machine that has only a token. */
export const proxy: Open = async (stage, attack, situation) => {
  const [machine, { got, url }] = await Promise.all([newMachine(stage.liar.url, { cold: true }), openUpstream()])
  machine.env.SKERRY_TOKEN = await tokenOf(stage, attack, situation)
  await machine.write('skerry-proxy.toml', settings)
  await machine.write('program.mjs', program(url))
  const run = () => machine.skerry(['proxy', 'run', ...placeOf(attack.act), '--', 'node', 'program.mjs'])
  if (situation.memory) await fillMachine(machine, { stage, attack, situation, kind: 'proxy' }, run)
  if (attack.clockDays !== undefined) machine.env.NODE_OPTIONS = otherClock(attack.clockDays)
  return {
    act: async () => {
      got.length = 0
      const { code, stderr } = await run()
      const told = stderr.replaceAll(proxysOwn, '')
      return outcomeOf({ failed: code !== 0, values: got.join(','), told }, honestValues(attack.act))
    },
    close: machine.remove,
  }
}
