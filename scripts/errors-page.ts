import { exitCodes, kindOfCode, nextOfCode } from '../packages/cli/src/failure.ts'
import { type ErrorCode, errorStatus } from '../packages/contract/src/errors.ts'
import { errorMeanings, errorRemedies } from '../packages/contract/src/refusals.ts'
import { type CryptoErrorCode, cryptoErrors } from '../packages/crypto/src/errors.ts'
import { type ClientErrorCode, clientErrors } from '../packages/sdk/src/errors.ts'
import { markdownTable } from './markdown-table.ts'

type Code = ClientErrorCode | CryptoErrorCode | 'rollback'

/** The message of a `RollbackError` names the changes, so it has no text of its own in the SDK. */
const rollback = 'the answer of the server contradicts what this client remembers. The message names the changes'

const publishAgain = 'do not use the policy. Ask an admin to publish it again'

/** Next steps of the errors for which the command has no hint of its own, because its message already says it. */
const remedies: Partial<Record<Code, string>> = {
  unavailable:
    'check the address of the server (`--url` or `SKERRY_URL`), and check that the server runs. `skerry doctor` shows what fails',
  rollback:
    'ask your team who made these changes. If somebody did, accept them with `skerry env trust`; otherwise do not use this server',
  timeout: 'try again. If the server stays slow, check the server and the network',
  offline:
    'run the command once while the server can be reached. If a copy exists but is too old, `skerry run --max-age 7d` accepts it',
  request_too_large: 'raise the limit of the proxy in front of the server to 64 MiB',
  malformed_archive:
    'give the command a file that `skerry-server audit archive` wrote. For a file of `skerry org export`, use `skerry org export verify`',
  changed_archive: 'do not use the file. Look for another copy',
  weak_passphrase: 'choose a longer passphrase, for example four random words',
  malformed_blob:
    'ask the operator whether the server was restored from a damaged backup. If it was not, do not trust the server',
  malformed_code: 'copy the whole code again',
  not_authentic: 'copy the whole text again. If `skerry` refuses it again, ask the sender by phone or in person',
  authentic_expired: 'ask the sender for a new text',
  policy_expired: 'ask an admin to sign the policy again with `skerry agent policy publish`',
  policy_unpinned_signer:
    'ask who signed the policy. If you trust this person, add their key to the settings of the proxy',
  policy_no_signers:
    'list the keys of the signers in the settings of the proxy: `skerry proxy init --signer <thumbprint>`',
  policy_malformed: publishAgain,
  policy_kid_mismatch: publishAgain,
  policy_unsupported: 'upgrade this program',
  policy_other_org: 'check the token of the proxy, and `org` in the settings of the proxy',
  policy_other_agent: 'check the name of the agent in the settings of the proxy',
  policy_invalid: 'correct the rules of the policy. The message names the wrong field',
  unsupported_prefix: 'check that you gave the right text. It must start with the prefix that the message names',
  malformed_key: 'copy the whole key again',
  malformed_proof: 'run the command again. If the error comes again, do not trust the server',
  malformed_checkpoint: 'copy the whole checkpoint again',
  other_checkpoint_key:
    'if the operator replaced the signing key of the server, run the command again, and add `--key` with the earlier key',
  unsigned_checkpoint: 'check whether the checkpoint comes from this server. If it does, do not trust the server',
  directory_malformed: 'upgrade this program. If the error comes again, do not use this server',
  policy_bad_signature: publishAgain,
  placeholder_denied:
    'ask an admin to add the secret to the policy of the agent, or remove the placeholder from the request',
  placeholder_unresolved: 'check the name of the secret in the placeholder',
}

type ExitKind = keyof typeof exitCodes

const exitMeanings: Record<ExitKind, string> = {
  ok: 'The command succeeded',
  failure: 'The command failed for a reason that no other row names',
  usage: 'The command line is wrong',
  refused: 'The server refused the request, or the answer of the server cannot be trusted',
  notFound: 'The name does not exist, or you are not allowed to see it',
  conflict: 'The name is in use, or somebody else has changed the object since you read it',
  unavailable: 'The server cannot be reached or does not answer. Try again later',
  notExecutable: 'The program of `skerry run` cannot be executed',
  commandNotFound: 'The program of `skerry run` does not exist',
  interrupted: 'You stopped the command with Ctrl-C',
}

/** Errors that show a mistake of a program and not of its user. */
const internal: ReadonlySet<Code> = new Set(['invalid_argument', 'malformed_base64url', 'malformed_text'])

const tables: Record<string, () => string> = {
  api: () =>
    markdownTable({
      columns: ['Code', 'Status', 'Meaning', 'What to do', 'Exit code'],
      rows: (Object.keys(errorStatus) as ErrorCode[]).map((code) => [
        `\`${code}\``,
        String(errorStatus[code]),
        errorMeanings[code],
        errorRemedies[code],
        exitCodeOf(code),
      ]),
    }),
  clients: () => {
    const messages: Partial<Record<Code, string>> = { ...cryptoErrors, ...clientErrors, rollback }
    const codes = (Object.keys(messages) as Code[]).filter((code) => !internal.has(code))
    return markdownTable({
      columns: ['Code', 'Message', 'What to do', 'Exit code'],
      rows: codes.map((code) => [`\`${code}\``, sentence(messages[code]), sentence(remedyOf(code)), exitCodeOf(code)]),
    })
  },
  exits: () =>
    markdownTable({
      columns: ['Exit code', 'Meaning'],
      rows: Object.entries(exitMeanings).map(([kind, meaning]) => [String(exitCodes[kind as ExitKind]), meaning]),
    }),
}

function remedyOf(code: Code): string {
  const remedy = remedies[code] ?? nextOfCode[code]
  if (remedy === undefined) throw new Error(`${code}: add the next step of the user to scripts/errors-page.ts`)
  return remedy
}

/** Errors that only the audit commands meet, which exit with 3 for each of them (`readArchive` of the command line). */
const refusedFiles: ReadonlySet<string> = new Set(['malformed_archive', 'changed_archive'])

const exitCodeOf = (code: string) =>
  String(exitCodes[refusedFiles.has(code) ? 'refused' : (kindOfCode[code] ?? 'failure')])

const sentence = (text = '') => text.charAt(0).toUpperCase() + text.slice(1)

/** Updates the tables of the page from the contract and the clients. The other text stays. */
export function withErrorTables(page: string): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const begin = `<!-- The table of ${name} is generated by \`npm run generate\`. -->`
    const end = `<!-- End of the table of ${name}. -->`
    const [before, rest] = text.split(begin)
    const [, after] = rest?.split(end) ?? []
    if (before === undefined || after === undefined)
      throw new Error(`docs/troubleshooting.md: the marks of the table of ${name} are missing`)
    return `${before}${begin}\n\n${table()}\n\n${end}${after}`
  }, page)
}
