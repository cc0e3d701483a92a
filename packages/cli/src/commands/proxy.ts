import type { Command } from 'commander'
import { withoutSession } from '../frame.ts'
import { addressed, common, gather } from '../options.ts'
import { compose } from '../proxy/compose.ts'
import { init } from '../proxy/init.ts'
import { presetNames } from '../proxy/presets.ts'
import { run } from '../proxy/run.ts'

const presets = `hosts and the secrets that they take: ${presetNames.join(', ')}`

export function register(command: Command): void {
  command
    .command('init')
    .description('Write the settings of a proxy into skerry-proxy.toml')
    .option('--preset <name>', presets, gather)
    .option('--agent <slug>', 'take the rules from the signed policy of this agent')
    .option('--signer <thumbprint>', 'key that may sign the policy; repeatable; two are better than one', gather)
    .option('--file <path>', 'where to write', 'skerry-proxy.toml')
    .option('--force', 'replace a file that exists')
    .option('--json', 'machine-readable output on stdout')
    .option('--debug', 'print stack traces of failures')
    .action(withoutSession(init))
  command
    .command('compose')
    .description('Print a Docker Compose file with a proxy, for agents that have no other way out')
    .option('--image <name>', 'image that has the skerry command')
    .option('--preset <name>', presets, gather)
    .option('--agent <slug>', 'take the rules from the signed policy of this agent')
    .option('--signer <thumbprint>', 'key that may sign the policy; repeatable', gather)
    .option('--debug', 'print stack traces of failures')
    .action(compose)
  addressed(common(command.command('run').description('Run a proxy, or a program behind one')))
    .usage('[options] [-- <program> [arguments...]]')
    .argument('[program...]')
    .passThroughOptions()
    .option('-c, --config <path>', 'its settings', 'skerry-proxy.toml')
    .option('--preset <name>', `instead of a file, ${presets}`, gather)
    .option('--listen <address>', 'where reverse routes are listened on')
    .option('--sandbox', 'let the program reach nothing but the proxy; Linux with bubblewrap')
    .option('--task', 'bind the program to the task whose token is in SKERRY_TASK; it can use no other one')
    .addHelpText('after', runHelp)
    .action(run)
}

const runHelp = `
The program is given the proxy and the certificates to trust, in the variables of curl, Git, Node, Python, Java and others. It
is given no secret: it sends {{skerry:NAME}} in the place of one. skerry ends as the program ends. Without a program, the
proxy runs until it is told to end. Who is allowed what, docs/proxy.md tells.`
