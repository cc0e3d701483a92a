import { type Command, Option } from 'commander'
import { exportFormats } from '../formats/names.ts'
import { inOrg, signedIn } from '../frame.ts'
import { checkConfig } from '../leases/config.ts'
import { create, parseCreate } from '../leases/create.ts'
import { forget, list, parseList, revoke } from '../leases/ledger.ts'
import { add, list as listTargets, remove, replace, trust, verify } from '../leases/targets.ts'
import { accepting, confirmable, explained, gather, leaf, noun } from '../options.ts'
import { leaseProviderOption } from '../vendors.ts'

export function register(command: Command): void {
  registerTargets(noun(command, 'target', 'Databases, hosts and clouds that leases are created on', ['targets']))
  explained(
    leaf(command, 'create <target> [program...]', 'Create a temporary account, and run a program with it'),
    createHelp.trim(),
  )
    .usage('<target> [-- <program> [arguments...]]')
    .option('--ttl <duration>', 'lifetime (default: 1h, or the longest that the target allows)')
    .option('--name <name>', 'name of the account on a database (default: a random one)')
    .addOption(
      new Option('--format <format>', 'output format without a program').choices([...exportFormats]).default('dotenv'),
    )
    .action(signedIn(create, parseCreate))
  leaf(command, 'ls', 'List leases, newest first')
    .option('--limit <number>', 'at most this many; 0 is all', '50')
    .option('--by <who>', 'only leases of this member, token or machine client')
    .option('--live', 'only leases whose credential may still work')
    .action(inOrg(list, parseList))
  confirmable(
    leaf(
      command,
      'revoke <lease>',
      'End a lease; on a database, its account is deleted and its connections are closed',
    ),
  ).action(inOrg(revoke))
  confirmable(
    leaf(command, 'forget <lease>', 'Mark a lease as ended although its account could not be deleted'),
  ).action(inOrg(forget))
}

function registerTargets(command: Command): void {
  leaf(command, 'ls', 'List targets: the systems on which leases are created').action(inOrg(listTargets))
  explained(
    accepting(
      confirmable(leaf(command, 'create <name>', 'Register a database, SSH host or cloud on which leases are created')),
    ),
    createTargetHelp.trim(),
  )
    .addOption(leaseProviderOption('kind of the target, if the credential does not say'))
    .option('--file <path>', 'file with the admin credential; use - for stdin (default: ask)')
    .option('--config <path>', 'JSON file with settings that have no option here')
    .option('--level <level>', 'rights of a lease: readonly, readwrite or custom (default: readonly)')
    .option('--schema <name>', 'PostgreSQL: schema whose tables a lease may use (default: public)')
    .option('--user-host <pattern>', 'MySQL: hosts that a lease may connect from (default: %)')
    .option('--tls <mode>', 'disable, require or verify-full')
    .option('--ca-file <path>', 'file with the certificate authority of the target')
    .option('--allow-cleartext-password', 'PostgreSQL, MySQL: the target may read passwords without verified TLS')
    .option('--ca-public-key <path>', 'SSH: file with the public key of the authority (default: <file>.pub)')
    .option('--principal <name>', 'SSH: login name that a lease may use; repeatable', gather)
    .option('--max-ttl <duration>', 'longest lifetime of a lease')
    .option('--max-connections <number>', 'PostgreSQL, MySQL: open connections of a lease (default: 20)')
    .option('--provisioner <token>', 'let `skerry provisioner` with this token connect, and not the server')
    .action(inOrg(add, checkConfig))
  leaf(command, 'verify <target>', 'Check that Skerry can still sign in to a target').action(inOrg(verify))
  confirmable(leaf(command, 'trust <target>', 'Accept the changed settings of a target')).action(signedIn(trust))
  accepting(confirmable(leaf(command, 'replace <target>', 'Replace the admin credential of a target')))
    .option('--file <path>', 'file with the new credential; use - for stdin (default: ask)')
    .action(inOrg(replace))
  confirmable(leaf(command, 'rm <target>', 'Delete a target'))
    .option('--force', 'delete the target even if it has live leases; their accounts are not deleted')
    .action(inOrg(remove))
}

const createHelp = `
The program gets environment variables such as PGHOST, MYSQL_HOST, REDIS_HOST, DATABASE_URL, MONGODB_URI, AWS_ACCESS_KEY_ID or CLOUDSDK_AUTH_ACCESS_TOKEN. The lease ends with the program. Without a program, the variables are printed once. For SSH certificates see \`skerry ssh\`.`

const createTargetHelp = `
The admin credential is read from stdin, a file or a hidden prompt. For a database it is a connection string such as postgres://skerry:...@db.example.com/shop, for SSH a private key. Clouds need --config, a file with the settings; the page below links to an example. The server can read the credential, so create one for Skerry alone. With --provisioner only that service token can read it.`
