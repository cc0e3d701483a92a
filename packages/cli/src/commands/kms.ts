import { kmsSpecs } from '@skerry/contract/kms/specs'
import { type Command, Option } from 'commander'
import { inOrg, signedIn } from '../frame.ts'
import { gateway, parseGateway } from '../kms/gateway.ts'
import {
  checkCreate,
  create,
  disable,
  enable,
  grant,
  list,
  parseHolder,
  remove,
  revoke,
  rotate,
  show,
  trust,
} from '../kms/keys.ts'
import {
  checkDataKey,
  checkSign,
  dataKey,
  decrypt,
  encrypt,
  parseVerify,
  readInput,
  readSealed,
  sign,
  verify,
} from '../kms/use.ts'
import { accepting, confirmable, explained, formerly, gather, leaf, overwriting } from '../options.ts'

export function register(command: Command): void {
  registerKeys(command)
  const context = ['--context <text>', 'text that decryption must repeat'] as const
  const file = ['--file <path>', 'file to read (default: stdin)'] as const
  const out = ['--out <path>', 'file to write (default: stdout)'] as const
  const reveal = ['--reveal', 'allow the output on a terminal'] as const
  explained(
    overwriting(leaf(command, 'encrypt <key>', 'Encrypt stdin or a file of any size')),
    'Input up to 64 KiB gives one line of text that starts with ce1. Longer input gives a binary file.',
  )
    .option(...file)
    .option(...out)
    .option(...context)
    .action(signedIn(encrypt, readInput))
  explained(
    overwriting(leaf(command, 'decrypt <key>', 'Decrypt the output of `encrypt`, `data-key` or the gateway')),
    'A pipe gets data before the end is verified. Use the data only if the exit code is 0, or write it with --out.',
  )
    .option(...file)
    .option(...out)
    .option(...context)
    .option(...reveal)
    .action(signedIn(decrypt, readSealed))
  overwriting(leaf(command, 'data-key <key>', 'Make a data key for another program, in plain and encrypted form'))
    .option('--bytes <number>', 'length of the key', '32')
    .option('--out <path>', 'file for the plain key; stdout then has only the wrapped key')
    .option(...reveal)
    .action(signedIn(dataKey, checkDataKey))
  overwriting(leaf(command, 'sign <key>', 'Sign stdin or a file'))
    .option(...file)
    .option(...out)
    .action(signedIn(sign, checkSign))
  leaf(command, 'verify <signature>', 'Verify a signature of stdin or a file')
    .option(...file)
    .option('--key <key>', 'key that must have signed (default: the key that the signature names)')
    .action(signedIn(verify, parseVerify))
  explained(leaf(command, 'gateway', 'Serve managed keys to programs that use an AWS SDK'), gatewayHelp)
    .option('--port <number>', 'port to listen on', '4766')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--key <key>', 'key to serve (default: all that you hold); repeatable', gather)
    .action(signedIn(gateway, parseGateway))
}

/** The holder was an option before. `--user` and `--token` still say which of the two a name means. */
const held = (command: Command) =>
  formerly(formerly(command, '--user <member>'), '--token <token>').usage('<key> <member or token>')

function registerKeys(command: Command): void {
  leaf(command, 'ls', 'List managed keys').action(signedIn(list))
  leaf(command, 'create <name>', 'Create a managed key, which only you have at first')
    .addOption(new Option('--spec <spec>', 'algorithm').choices(Object.keys(kmsSpecs)).default('aes-256-gcm'))
    .option('--for-app <slug>', 'application that the key belongs to')
    .option('--for-group <slug>', 'group that the key belongs to')
    .action(inOrg(create, checkCreate))
  leaf(command, 'show <key>', 'Show a managed key, and who has each version').action(signedIn(show))
  accepting(
    held(leaf(command, 'grant <key> [holder]', 'Give the current version of a key to a person or a token')),
  ).action(signedIn(grant, parseHolder))
  confirmable(
    held(leaf(command, 'revoke <key> [holder]', 'Take all versions of a key from a person or a token')),
  ).action(signedIn(revoke, parseHolder))
  accepting(
    confirmable(leaf(command, 'rotate <key>', 'Make a new version of a key, for everyone who has the key')),
  ).action(signedIn(rotate))
  confirmable(leaf(command, 'disable <key>', 'Stop all use of a managed key')).action(signedIn(disable))
  leaf(command, 'enable <key>', 'Allow the use of a disabled managed key').action(signedIn(enable))
  confirmable(
    leaf(command, 'rm <key>', 'Delete a managed key for good; the server gives it to nobody any more'),
  ).action(signedIn(remove))
  confirmable(leaf(command, 'trust <key>', 'Accept a managed key that changed on the server')).action(signedIn(trust))
}

const gatewayHelp =
  'Programs need two variables, which are printed at the start: AWS_ENDPOINT_URL_KMS and AWS_SHARED_CREDENTIALS_FILE. The gateway refuses requests that are not signed with the access key in that file. Programs name a key by its id or as alias/<name>.'
