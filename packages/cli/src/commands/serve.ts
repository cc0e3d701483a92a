import type { Command } from 'commander'
import { branchHelp, common, explained, gather, gatherGroups, withEnv } from '../options.ts'
import { selective } from '../selection.ts'
import { serve } from '../serve/serve.ts'

export function register(command: Command): void {
  explained(
    selective(
      withEnv(common(command).option('--app <slug>', 'application'))
        .option('--branch <slug>', branchHelp)
        .option('--with <group=env>', 'use another environment of a group; repeatable', gatherGroups),
    ),
    help,
  )
    .option('--socket <path>', 'socket to listen on (default: serve in your own folder)')
    .option('--credentials <folder>', 'make one socket for each secret, for LoadCredential= of systemd')
    .option('--port <number>', 'port to listen on, instead of a socket')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--token-file <path>', 'file with the token that callers of the port send; made if it is missing')
    .option('--allow-host <name,...>', 'other names of this host in the URLs of callers; repeatable', gather)
    .option('--tls-cert <path>', 'file with the certificate (PEM)')
    .option('--tls-key <path>', 'file with the private key of the certificate (PEM)')
    .option('--allow-cleartext', 'listen on the network without TLS')
    .option('--max-age <duration>', 'oldest copy to use when the server cannot be reached', '24h')
    .option('--no-cache', 'keep the copy in memory, and store none')
    .action(serve)
}

const help = `Programs ask for GET /v1/secrets/<NAME>, which answers {"name", "value"}, or for GET /v1/secrets, which answers every secret. Only you can open the socket. Callers of a port need the token in the file that is printed at the start.

Every answer is verified as \`skerry run\` does. A changed secret is given out within seconds. If the server cannot be reached, Skerry uses the last copy.`
