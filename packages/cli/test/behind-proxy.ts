import { execFileSync } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { startUpstream } from '../../proxy/test/world.ts'
import { type Proxied, planted } from './proxied.ts'

/** The header that programs send. */
export const bearer = 'Authorization: Bearer {{skerry:API_KEY}}'

/** Programs reach the upstream by this name, for which it has a certificate. */
export const host = 'localhost'

const forward = '[egress]\nallow_cidr = ["127.0.0.0/8", "::1/128"]\n[forward]\nlisten = "127.0.0.1:0"\n'
const ruled = `${forward}[[forward.host]]\nmatch = "${host}"\nports = ["1-65535"]\n`

const headerRules = `${ruled}allow = ["API_KEY"]\nin = ["header"]\n`
export const signingRules = `${ruled}sigv4 = { access_key = "AWS_KEY_ID", secret_key = "AWS_KEY" }\n`

/** Runs a shell command line behind the real `skerry proxy run`, which trusts the authority `ca`. */
export async function runBehind({ machine }: Proxied, rules: string, ca: string, script: string) {
  await machine.write('skerry-proxy.toml', rules)
  await machine.write('upstream-ca.pem', ca)
  await machine.write('program.sh', script)
  const env = { NODE_EXTRA_CA_CERTS: join(machine.project, 'upstream-ca.pem') }
  const ended = await machine.shell('skerry proxy run -- sh program.sh', { env })
  if (ended.stdout.includes(planted)) throw new Error('the program has the secret')
  return ended
}

/** Starts an upstream with TLS. `run` starts a program that reaches it through the proxy. */
export async function startBehind(proxied: Proxied, listener: RequestListener) {
  const upstream = await startUpstream(listener, { host })
  return { ...upstream, run: (script: string) => runBehind(proxied, headerRules, upstream.ca, script) }
}

/** Finds a Python that has the module, or returns null. */
export function pythonWith(module: string): string | null {
  for (const python of ['python3', '/usr/bin/python3'])
    try {
      return execFileSync(python, ['-c', `import sys, ${module}; print(sys.executable)`], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim()
    } catch {}
  if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw new Error(`no Python has the module ${module}`)
  process.stderr.write(`SKIPPED: no Python has the module ${module}\n`)
  return null
}
