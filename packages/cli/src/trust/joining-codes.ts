import { join } from 'node:path'
import { joiningLifetimeSeconds } from '@skerry/crypto/directory/joining'
import { withLock } from '../credentials.ts'
import { Failure } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { configFolder } from '../folders.js'

// The inviter's machine keeps a joining code until the invited person has answered, because only the code proves the answer.

/** A code that this machine made for an invitation. */
export interface JoiningCode {
  email: string
  code: string
  /** Unix seconds. */
  issuedAt: number
}

/** The codes, by server and organization. */
interface CodesFile {
  version: 1
  codes: Record<string, JoiningCode[]>
}

const filePath = () => join(configFolder(), 'joining-codes.json')

const placeOf = (url: string, orgId: string): string => `${url} ${orgId}`

export const listCodes = (url: string, orgId: string): readonly JoiningCode[] =>
  readFile().codes[placeOf(url, orgId)] ?? []

/** Keeps a code. An earlier code for the same address stops working. */
export const keepCode = (url: string, orgId: string, code: JoiningCode): void =>
  change(url, orgId, (codes) => [...codes.filter(({ email }) => email !== code.email), code])

/** Forgets the code for an address: it works once. */
export const forgetCode = (url: string, orgId: string, address: string): void =>
  change(url, orgId, (codes) => codes.filter(({ email }) => email !== address))

const isCurrent = ({ issuedAt }: JoiningCode) => Date.now() / 1000 <= issuedAt + joiningLifetimeSeconds

function change(url: string, orgId: string, edit: (codes: JoiningCode[]) => JoiningCode[]): void {
  const path = filePath()
  withLock(`${path}.lock`, () => {
    const file = readFile()
    const place = placeOf(url, orgId)
    const before = file.codes[place] ?? []
    const after = edit(before).filter(isCurrent)
    if (JSON.stringify(before) === JSON.stringify(after)) return
    file.codes[place] = after
    writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  })
}

function readFile(): CodesFile {
  const text = readIfThere(filePath())
  if (text === null) return { version: 1, codes: {} }
  try {
    const file = JSON.parse(text) as CodesFile
    if (file.version === 1 && typeof file.codes === 'object' && file.codes !== null) return file
  } catch {
    // The error below reports it.
  }
  const next = 'move it away, and compare the words of people whom you invited'
  throw new Failure('failure', `${filePath()} is not a list of joining codes`, next)
}
