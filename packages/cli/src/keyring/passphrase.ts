import { judgePassphrase } from '@skerry/crypto/passphrase'
import { Failure, usage } from '../failure.ts'
import { readStdin, readTextFile } from '../input.ts'
import { isTerminal, note } from '../output.ts'
import { askHidden, canAsk } from '../prompt.ts'

const fileVariable = 'SKERRY_PASSPHRASE_FILE'
const lineEnd = /\r?\n$/

/** Reads the passphrase from the file that SKERRY_PASSPHRASE_FILE names. A line end at the end is not part of it. */
export function passphraseFromFile(): string | undefined {
  const path = process.env[fileVariable]
  if (!path) return undefined
  const passphrase = readTextFile(path).replace(lineEnd, '')
  if (passphrase === '') throw usage(`the file that ${fileVariable} names is empty`)
  return passphrase
}

/** Reads the passphrase from the file, a hidden prompt, or stdin. */
export async function readPassphrase(): Promise<string> {
  const passphrase = passphraseFromFile() ?? (canAsk() ? await askHidden('Passphrase of your keyring') : fromStdin())
  if (passphrase === '') throw usage('no passphrase was given')
  return passphrase
}

/**
 * Reads a new passphrase from a file or stdin, or asks for it twice, so that a typing error does not lock the keyring
 * for ever.
 *
 * @param about texts that an attacker would try first, such as the person's e-mail address.
 */
export async function readNewPassphrase(about: string[]): Promise<string> {
  const given = passphraseFromFile() ?? (canAsk() ? undefined : fromStdin())
  if (given === '') throw usage('no passphrase was given', `set ${fileVariable} to a file with it, or use a terminal`)
  return given === undefined ? askForNew(about) : checkPassphrase(given, about)
}

async function checkPassphrase(given: string, about: string[]): Promise<string> {
  const problem = await judgePassphrase(given, about)
  if (problem === null) return given
  throw usage(`the passphrase is too weak: ${problem}`, 'use five or more random words')
}

async function askForNew(about: string[]): Promise<string> {
  note('the passphrase opens your keyring on every machine; nobody can reset it')
  for (;;) {
    const passphrase = await askHidden('New passphrase')
    const problem = await judgePassphrase(passphrase, about)
    if (problem !== null) {
      note(`too weak: ${problem}; use five or more random words`)
      continue
    }
    if (passphrase === (await askHidden('New passphrase, once more'))) return passphrase
    note('the two passphrases differ; try again')
  }
}

/** Reads the new passphrase for a change. SKERRY_PASSPHRASE_FILE contains the current passphrase then. */
export async function readAnotherPassphrase(about: string[], file: string | undefined): Promise<string> {
  if (file !== undefined) return checkPassphrase(readTextFile(file).replace(lineEnd, ''), about)
  if (!canAsk()) throw usage('no new passphrase was given', 'use --new-file <path>')
  return askForNew(about)
}

function fromStdin(): string {
  if (isTerminal.stdin()) {
    throw new Failure(
      'refused',
      'the passphrase is needed, but there is no terminal to ask on',
      `pipe it in, or set ${fileVariable}`,
    )
  }
  return readStdin().replace(lineEnd, '')
}
