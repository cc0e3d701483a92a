import { changedSettings, type TargetSettings, wordsOfSettings } from '@skerry/sdk/internal/lease-target-settings'
import { targetPrompt } from '../prompts.ts'

// The server decides which address a lease leads to. This browser remembers the settings with which it first used or
// registered a target. If they change, it asks before a password is made for the new address. The settings contain no
// credential.

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

/** Remembers settings that the person has registered or accepted. */
export function noteTarget(orgId: string, target: Target): void {
  const { provider, config } = target
  const entries = keysOf(orgId, target).map((key) => [key, { provider, config }] as const)
  localStorage.setItem(storageName, JSON.stringify({ ...readKnown(), ...Object.fromEntries(entries) }))
}

/** The target that the dialog asks about, and its changed settings. */
let asked = { name: '', changes: '' }
export const changedTarget = () => asked

/**
 * Asks the person about a target whose settings have changed. Call it before you make a password for the target or
 * replace its admin credential.
 *
 * @throws Cancelled if the person declines. Then send nothing.
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
