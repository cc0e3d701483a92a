import { type Command, Option } from 'commander'
import { exportFormats } from '../formats/names.ts'
import { inOrg, signedIn } from '../frame.ts'
import { create, parseCreate } from '../leases/create.ts'
import { forget, list, parseList, revoke } from '../leases/ledger.ts'
import { add, list as listTargets, remove, replace, trust, verify } from '../leases/targets.ts'
import { accepting, confirmable, gather, leaf } from '../options.ts'
import { leaseProviderOption } from '../vendors.ts'

export function register(command: Command): void {
  registerTargets(command.command('target').description('Databases, hosts and clouds on which leases are made'))
  leaf(command, 'create <target> [program...]', 'Make an account that lives for minutes; run a program with it')
    .usage('[options] <target> [-- <program> [arguments...]]')
    .option('--ttl <duration>', 'how long it lives; an hour unless given, or as long as the target allows')
    .option('--name <name>', 'of the account, for databases; a fresh one unless given')
    .addOption(
      new Option('--format <format>', 'of what is printed without a program')
        .choices([...exportFormats])
        .default('dotenv'),
    )
    .addHelpText('after', createHelp)
    .action(signedIn(create, parseCreate))
  leaf(command, 'list', 'The ledger of leases, newest first')
    .option('--limit <number>', 'newest so many; 0: all', '50')
    .option(
      '--by <who>',
      'only leases that this member, service token or machine client asked for, by name, e-mail or id',
    )
    .option('--live', 'only leases whose credential may still work')
    .action(inOrg(list, parseList))
  confirmable(leaf(command, 'revoke <lease>', 'End a lease: its account is removed and its sessions end')).action(
    inOrg(revoke),
  )
  confirmable(leaf(command, 'forget <lease>', 'Close the entry of a lease whose account could not be removed')).action(
    inOrg(forget),
  )
}

function registerTargets(command: Command): void {
  command.helpCommand(false)
  accepting(
    confirmable(leaf(command, 'add <name>', 'Register a target; its admin credential comes from stdin or a question')),
  )
    .addOption(leaseProviderOption('what it is, where the credential does not tell'))
    .option('--file <path>', 'file that holds the admin credential; - for stdin')
    .option('--config <path>', 'JSON of the target’s settings, for what has no option here')
    .option('--level <level>', 'readonly, readwrite or custom; readonly unless given')
    .option('--schema <name>', 'PostgreSQL: schema whose tables a lease may use; public unless given')
    .option('--user-host <pattern>', 'MySQL: hosts from which a lease may sign in; % unless given')
    .option('--tls <mode>', 'disable, require or verify-full')
    .option('--ca-file <path>', 'certificates of the authority of the server’s certificate')
    .option('--allow-cleartext-password', 'PostgreSQL, MySQL: the server may read passwords without verified TLS')
    .option('--ca-public-key <path>', 'SSH: public key of the authority; <file>.pub unless given')
    .option('--principal <name>', 'SSH: login name that a lease may ask for; repeatable', gather)
    .option('--max-ttl <duration>', 'longest lifetime of a lease')
    .option(
      '--max-connections <number>',
      'PostgreSQL, MySQL: how many connections a lease may have open; 20 unless given',
    )
    .option(
      '--provisioner <token>',
      'service token that signs in to the target instead of the server: see `skerry provisioner`',
    )
    .addHelpText('after', addHelp)
    .action(inOrg(add))
  leaf(command, 'list', 'List targets').action(inOrg(listTargets))
  leaf(command, 'verify <target>', 'Sign in to a target again, and tell what it says').action(inOrg(verify))
  confirmable(leaf(command, 'trust <target>', 'Accept the changed settings of a target')).action(signedIn(trust))
  accepting(confirmable(leaf(command, 'replace <target>', 'Replace a target’s admin credential')))
    .option('--file <path>', 'file that holds the credential; - for stdin')
    .action(inOrg(replace))
  confirmable(leaf(command, 'rm <target>', 'Remove a target'))
    .option('--force', 'with live leases, too: their accounts stay where they are')
    .action(inOrg(remove))
}

const createHelp = `
With a program, the lease is revoked when the program ends. It gets PGHOST, PGUSER and the like for PostgreSQL,
MYSQL_HOST ... for MySQL, REDIS_HOST ... for Redis, DATABASE_URL for each of them, MONGODB_URI, AWS_ACCESS_KEY_ID ...
or CLOUDSDK_AUTH_ACCESS_TOKEN. Without one, they are printed, this once. For certificates of SSH see \`skerry ssh\`.`

const addHelp = `
The connection of a database is that of its admin connection string, such as postgres://skerry:...@db.example.com/shop.
A private key makes a target for SSH. For clouds, write the settings into a file for --config (docs/leases.md).
The server signs in with the credential, so it can read it: make one for Skerry alone. With --provisioner only the holder
of that service token can read it, and signs in from inside your own network.`
