import type { Command } from 'commander'
import { inOrg, withoutSession } from '../frame.ts'
import { explained, leaf, overwriting } from '../options.ts'
import { checkExportTo, exportTo } from './download.ts'
import { verify } from './verify.ts'

/** Registers `org export`, and `org export verify` below it. */
export function registerExport(command: Command): void {
  const archive = explained(
    overwriting(leaf(command, 'export <path>', 'Write the whole organization to one file; use - for stdout')),
    help,
  )
    .option('--no-versions', 'without earlier versions of secrets; the archive cannot be restored then')
    .option('--no-audit', 'without the audit log')
    .option('--audit-limit <number>', 'at most this many audit entries, newest first')
    .action(inOrg(exportTo, checkExportTo))
  archive.helpCommand(false)
  registerVerify(archive)
}

export function registerVerify(command: Command): void {
  leaf(command, 'verify <path>', 'Verify an archive without a server')
    .option('--key <publicKey>', 'public key of the server that wrote the archive')
    .option('--unsigned', 'check only the digests, which do not prove who wrote the archive')
    .action(withoutSession(verify))
}

const help =
  'The archive contains what the server stores: ciphertext, encrypted keys, names and the audit log. It contains no plaintext. Keep the public key that is printed: `skerry org export verify` needs it. `skerry-server org restore` restores the organization on another server. To write the secrets of an environment, use `skerry secrets export`.'
