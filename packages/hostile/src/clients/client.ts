import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRoot } from '@skerry/crypto/directory/root'
import type { Machine } from '../../../cli/test/machine.ts'
import type { Act, Attack, Outcome, Situation } from '../attack.ts'
import { branchValue, honestValue, type Stage } from '../stage.ts'

/** A client in one situation. It was made while the server was honest, and acts while it lies. */
interface Opened {
  act(): Promise<Outcome>
  close(): Promise<void>
}

/** Makes a client for one attack and one situation. */
export type Open = (stage: Stage, attack: Attack, situation: Situation) => Promise<Opened>

/** The names of the secrets that attacks change. */
export const names = ['A', 'B', 'NEW'] as const

/** The values that a program gets from the honest server, in the order of `names`. `-` is a name without a value. */
export const honestValues = (act: Act): string => `${act === 'branch' ? branchValue : honestValue},common,-`

/** The token of a client: with the pin that the attack asks for, or without one. */
export async function tokenOf({ token, ...stage }: Stage, attack: Attack, { pin }: Situation): Promise<string> {
  if (!pin) return token.plain
  const root = attack.pinnedRoot?.({ token, ...stage })
  if (root === undefined) return token.pinned
  return [token.plain, (await parseRoot(root)).hash, 'shop/development'].join('.')
}

/** Lets a client with memory see what it remembers: an earlier answer if the attack has one, and the newest one. */
export async function fillMemory(stage: Stage, attack: Attack, look: () => Promise<unknown>): Promise<void> {
  if (attack.remember) {
    await attack.remember(stage)
    await look()
    stage.liar.repent()
  }
  await look()
}

/**
 * Does the same for a machine. Machines that would see the same get a copy of what the first of them stored.
 *
 * @param kind the kind of the machine, and what it runs.
 */
export async function fillMachine(
  machine: Machine,
  { stage, attack, situation, kind }: { stage: Stage; attack: Attack; situation: Situation; kind: string },
  look: () => Promise<unknown>,
): Promise<void> {
  const seen = [
    new URL(stage.liar.url).port,
    kind,
    attack.act,
    situation.pin ? 'pin' : '',
    attack.pinnedRoot ? 'old' : '',
    attack.remember ? attack.id : '',
  ]
  const kept = join(stage.scratch, seen.join('-'))
  if (!existsSync(kept)) {
    await fillMemory(stage, attack, look)
    await copyState(machine.home, kept)
  } else await copyState(kept, machine.home)
}

/** The folders in which the command line stores what it remembers. */
async function copyState(from: string, to: string): Promise<void> {
  for (const folder of ['.config', '.local', '.cache'])
    if (existsSync(join(from, folder))) await cp(join(from, folder), join(to, folder), { recursive: true })
}
