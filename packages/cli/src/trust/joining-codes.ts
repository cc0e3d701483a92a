import { joiningLifetimeSeconds } from '@skerry/crypto/directory/joining'
import { orgMemory } from '../org-memory.ts'

// The inviter's machine keeps a joining code until the invited person has answered, because only the code proves the answer.

/** A code that this machine made for an invitation. */
export interface JoiningCode {
  email: string
  code: string
  /** Unix seconds. */
  issuedAt: number
}

const kept = orgMemory<JoiningCode[]>({
  file: 'joining-codes.json',
  field: 'codes',
  holds: 'joining codes',
  next: 'move it away, and compare the words of people whom you invited',
})

export const listCodes = (url: string, orgId: string): readonly JoiningCode[] => kept.find(url, orgId) ?? []

/** Keeps a code. An earlier code for the same address stops working. */
export const keepCode = (url: string, orgId: string, code: JoiningCode): void =>
  change(url, orgId, (codes) => [...codes.filter(({ email }) => email !== code.email), code])

/** Forgets the code for an address: it works once. */
export const forgetCode = (url: string, orgId: string, address: string): void =>
  change(url, orgId, (codes) => codes.filter(({ email }) => email !== address))

const isCurrent = ({ issuedAt }: JoiningCode) => Date.now() / 1000 <= issuedAt + joiningLifetimeSeconds

const change = (url: string, orgId: string, edit: (codes: JoiningCode[]) => JoiningCode[]): void =>
  kept.change(url, orgId, (codes = []) => edit(codes).filter(isCurrent))
