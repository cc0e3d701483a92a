import type { Command } from 'commander'
import { withoutSession } from '../frame.ts'
import { addressed, explained, gather, leaf } from '../options.ts'
import { compose } from '../proxy/compose.ts'
import { init } from '../proxy/init.ts'
import { presetNames } from '../proxy/presets.ts'
import { run } from '../proxy/run.ts'

const presets = `ready rules for ${presetNames.join(', ')}; repeatable`

export function register(command: Command): void {
  leaf(command, 'init', 'Write the settings of a proxy to skerry-proxy.toml')
    .option('--preset <name>', presets, gather)
    .option('--agent <slug>', 'use the signed policy of this agent')
    .option(
      '--signer <thumbprint>',
      'key that may sign the policy; give two, so that one can be replaced; repeatable',
      gather,
    )
    .option('--file <path>', 'file to write', 'skerry-proxy.toml')
    .option('--force', 'replace an existing file')
    .action(withoutSession(init))
  leaf(command, 'compose', 'Print a Docker Compose file in which an agent reaches the network only through a proxy')
    .option('--image <name>', 'image with the skerry command')
    .option('--preset <name>', presets, gather)
    .option('--agent <slug>', 'use the signed policy of this agent')
    .option('--signer <thumbprint>', 'key that may sign the policy; repeatable', gather)
    .action(compose)
  explained(addressed(leaf(command, 'run [program...]', 'Run a proxy, or a program behind a proxy')), runHelp)
    .usage('[-- <program> [arguments...]]')
    .passThroughOptions()
    .option('-c, --config <path>', 'file with the settings', 'skerry-proxy.toml')
    .option('--preset <name>', `instead of a file, ${presets}`, gather)
    .option('--listen <address>', 'address for reverse routes')
    .option('--sandbox', 'let the program reach only the proxy; Linux with bubblewrap')
    .option('--task', 'bind the program to the task whose token is in SKERRY_TASK')
    .action(run)
}

const runHelp =
  'The program gets the address of the proxy and its certificate in the environment variables of curl, Git, Node, Python, Java and others. It gets no secret: it sends {{skerry:NAME}} instead of a value. Without a program, the proxy runs until you stop it.'
