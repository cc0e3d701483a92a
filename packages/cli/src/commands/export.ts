import type { Command } from 'commander'
import { exportTo } from '../export/download.ts'
import { verify } from '../export/verify.ts'
import { common, leaf } from '../options.ts'

export function register(command: Command): void {
  common(command)
    .argument('<path>', 'file to write; - for stdout')
    .option('--no-versions', 'without the history of secrets; such an archive cannot be restored')
    .option('--no-audit', 'without the audit trail')
    .option('--audit-limit <number>', 'with the newest so many entries of the trail')
    .addHelpText('after', help)
    .action(exportTo)
  leaf(command, 'verify <path>', 'Check an archive without any server: every byte of it')
    .option('--key <publicKey>', 'key of the server that made it')
    .option('--unsigned', 'check the digests alone: nobody can tell who made the archive')
    .action(verify)
}

const help = `
The archive holds what the server holds: ciphertext, wrapped keys, names, the audit trail. It opens nothing by itself.
Note the key that is shown with it: with that key, \`skerry export verify\` tells whether the archive is still the one
that the server made, and \`skerry-server org restore\` makes the organization on another server.`
