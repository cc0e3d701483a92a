import { type Config, parseConfig } from '@skerry/proxy/config/config'
import { ConfigError } from '@skerry/proxy/config/read'
import { usage } from '../failure.ts'
import { type PresetName, presetNames, presets } from './presets.ts'

/** Names as they were typed -> the rows of the table. */
export function presetsOf(names: readonly string[]): PresetName[] {
  const unknown = names.find((name) => !Object.hasOwn(presets, name))
  if (unknown !== undefined) throw usage(`there is no preset ${unknown}`, `there are ${presetNames.join(', ')}`)
  return [...new Set(names)] as PresetName[]
}

const opening = `# What agents may send through the proxy of \`skerry proxy run\`: docs/proxy.md tells all settings. Nothing secret is in it.

listen = "127.0.0.1:8080"
`

const forwarding = `
[forward]
listen = "127.0.0.1:8081"
# Hosts that no rule names: "tunnel" passes them on unread, "deny" refuses them.
unmatched_host_policy = "tunnel"
`

/** Each host is reached in two ways: by a base URL of its own on the proxy, and through it. */
export function presetSettings(names: readonly PresetName[]): string {
  const routes = names.map((name) => {
    const { host, secret } = presets[name]
    return `\n[[route]]\nprefix = "/${name}"\nupstream = "https://${host}"\nallow = ["${secret}"]\n`
  })
  const hosts = names.map((name) => {
    const { host, secret } = presets[name]
    return `\n[[forward.host]]\nmatch = "${host}"\nallow = ["${secret}"]\n`
  })
  return [opening, ...routes, forwarding, ...hosts].join('')
}

/** The rules are the agent's policy, and the signers are who is believed. */
export function agentSettings(agent: string, signers: readonly string[], names: readonly PresetName[]): string {
  const routes = names.map((name) => `\n[[route]]\nprefix = "/${name}"\nupstream = "https://${presets[name].host}"\n`)
  const policy = `
[policy]
source = "server"
agent = "${agent}"
# The keys of the admins who may sign the policy. Whoever can change this line decides what agents may do.
signers = [${signers.map((one) => `"${one}"`).join(', ')}]

[tasks]
[activity]
`
  return [opening, ...routes, forwarding, policy].join('')
}

/** @throws Failure that names the file and the place in it. */
export function readSettings(toml: string, file: string, folder: string): Config {
  try {
    return parseConfig(toml, folder)
  } catch (error) {
    if (error instanceof ConfigError) throw usage(`${file}: ${error.message}`)
    throw error
  }
}
