import { changedSettings, type TargetSettings, wordsOfSettings } from '@skerry/sdk/internal/lease-target-settings'
import { targetPrompt } from '../prompts.ts'

// The server says where a lease leads. This browser remembers the settings with which it first used or registered a
// target, and asks before a password is made for another address. Settings hold no credential.

const storageName = 'skerry-known-targets'

interface Target extends TargetSettings {
  id: string
  name: string
}

type KnownTargets = Record<string, TargetSettings>

function readKnown(): KnownTargets {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof known === 'object' && known !== null ? (known as KnownTargets) : {}
  } catch {
    return {}
  }
}

const keysOf = (orgId: string, { id, name }: Target) => [`${orgId} ${id}`, `${orgId} name ${name}`]

/** The person has registered this target with these settings, or accepted them. */
export function noteTarget(orgId: string, target: Target): void {
  const { provider, config } = target
  const entries = keysOf(orgId, target).map((key) => [key, { provider, config }] as const)
  localStorage.setItem(storageName, JSON.stringify({ ...readKnown(), ...Object.fromEntries(entries) }))
}

/** The target that is asked about, and what is otherwise. */
let asked = { name: '', changes: '' }
export const changedTarget = () => asked

/**
 * To be called before a password is made for a target, or its admin credential is given: asks the person about one that has
 * other settings than before.
 *
 * @throws Cancelled, and then nothing is to be sent.
 */
export async function checkTarget(orgId: string, target: Target): Promise<void> {
  const known = readKnown()
  const changed = keysOf(orgId, target)
    .map((key) => (known[key] ? changedSettings(known[key], target) : []))
    .find((one) => one.length > 0)
  if (changed) {
    asked = { name: target.name, changes: wordsOfSettings(changed) }
    await targetPrompt.ask()
  }
  noteTarget(orgId, target)
}
