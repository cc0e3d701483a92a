import { pagePathOf } from '@skerry/contract/docs/page-path'
import { readSettings } from '../settings.ts'
import { originOfServer } from '../used-credential.ts'

/** Stands for the server of a user who has not named one yet. An installed package has no documents of its own. */
const unknownServer = 'https://<your server>'

/**
 * The address of a document at the server that a command would use here.
 *
 * @example pageAddress('docs/guides/ci.md') // 'https://skerry.example.com/docs/guides/ci/'
 */
export const pageAddress = (document: string): string =>
  `${knownServer() ?? unknownServer}/docs/${pagePathOf(document)}`

/** Undefined if no server is set, or if the settings are wrong: help must work then, too. */
function knownServer(): string | undefined {
  try {
    const { url } = readSettings({})
    return originOfServer() === 'the default' ? undefined : url
  } catch {
    return undefined
  }
}
