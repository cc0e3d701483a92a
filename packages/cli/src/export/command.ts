import type { Command } from 'commander'
import { inOrg, withoutSession } from '../frame.ts'
import { leaf, overwriting } from '../options.ts'
import { checkExportTo, exportTo } from './download.ts'
import { verify } from './verify.ts'

/** Registers `org export`, and `org export verify` below it. */
export function registerExport(command: Command): void {
  const archive = overwriting(leaf(command, 'export <path>', 'Write the whole organization to one file; - is stdout'))
    .option('--no-versions', 'without the history of secrets; such an archive cannot be restored')
    .option('--no-audit', 'without the audit log')
    .option('--audit-limit <number>', 'with at most this many audit entries, newest first')
    .addHelpText('after', help)
    .action(inOrg(exportTo, checkExportTo))
  archive.helpCommand(false)
  registerVerify(archive)
}

export function registerVerify(command: Command): void {
  leaf(command, 'verify <path>', 'Check every byte of an archive; needs no server')
    .option('--key <publicKey>', 'key of the server that made it')
    .option('--unsigned', 'check the digests alone: nobody can tell who made the archive')
    .action(withoutSession(verify))
}

const help = `
The archive holds everything that the server holds: ciphertext, wrapped keys, names, the audit log. It opens nothing by
itself. Note the key that is printed with it. With that key, \`skerry org export verify\` tells whether the archive is still
the one that the server made. \`skerry-server org restore\` restores the organization on another server. For the secrets
of an environment, use \`skerry secrets export\`.`
