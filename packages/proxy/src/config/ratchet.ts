import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { ConfigError } from './read.ts'
import { ruleOf } from './rules.ts'
import type { Written } from './written.ts'

/** The state in which every run begins. */
const baseline = 'baseline'

/** The hosts and secrets that a state still allows. Null allows everything that the policy permits. */
interface RatchetState {
  name: string
  hosts: readonly string[] | null
  secrets: readonly string[] | null
}

/** `to` is an index into `states`. The first state is the baseline. */
export interface RatchetConfig {
  states: RatchetState[]
  transitions: { rule: PolicyRule; to: number; label: string | null }[]
}

/** Returns the states in their order, and the transitions to them. No transition leads back. */
export function ratchetOf({ state, transition }: NonNullable<Written['ratchet']>): RatchetConfig {
  if (state.length === 0)
    throw new ConfigError(
      'ratchet.state',
      'there is none, so nothing would ever be withdrawn: add a state or remove [ratchet]',
    )
  if (transition.length === 0)
    throw new ConfigError('ratchet.transition', 'there is none, so no state would ever be reached: add a transition')
  const names = [baseline, ...state.map(({ name }) => name)]
  const again = names.findIndex((name, at) => names.indexOf(name) !== at)
  if (again !== -1) throw new ConfigError(`ratchet.state[${again - 1}].name`, `another state is called ${names[again]}`)
  const lower = (hosts: string[] | null) => hosts?.map((host) => host.toLowerCase()) ?? null
  return {
    states: [
      { name: baseline, hosts: null, secrets: null },
      ...state.map(({ name, hosts, secrets }) => ({ name, hosts: lower(hosts), secrets })),
    ],
    transitions: transition.map(({ to, ...one }, at) => {
      const index = names.indexOf(to)
      if (index === 0)
        throw new ConfigError(
          `ratchet.transition[${at}].to`,
          'leads back to an earlier state: a ratchet only moves forward',
        )
      if (index === -1) throw new ConfigError(`ratchet.transition[${at}].to`, `there is no state ${to}`)
      return { rule: ruleOf(one, `ratchet.transition[${at}]`), to: index, label: one.label }
    }),
  }
}
