import { orgMemory } from './org-memory.ts'
import type { Session } from './session.ts'

// The file of the public keys that this machine knows. `pins.ts` says what they mean.

export interface Pin {
  /** The name that a person gave or accepted for this key, or the principal's id if nobody did. */
  name: string
  publicKeyJwk: string
  pinnedAt: string
  /** The e-mail address of a person whom this machine removed. */
  removedAs?: string
  /** Whether the signed directory has listed this key. If it lists the key no longer, a signer has ended it. */
  wasListed?: true
}

/** The known keys of an organization, by principal. */
export type Pins = Record<string, Pin>

const known = orgMemory<Pins>({
  file: 'known-keys.json',
  field: 'keys',
  holds: 'known keys',
  next: 'restore the file, or move it away and compare the keys again',
})

export const pinsOf = ({ settings }: Session, orgId: string): Pins => known.find(settings.url, orgId) ?? {}

export const findPin = (session: Session, orgId: string, principalId: string): Pin | undefined =>
  pinsOf(session, orgId)[principalId]

export const changePins = ({ settings }: Session, orgId: string, edit: (pins: Pins) => Pins): void =>
  known.change(settings.url, orgId, (pins = {}) => edit(pins))
