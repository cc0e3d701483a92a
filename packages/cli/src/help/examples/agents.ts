/** Examples of AI agents, their proxy and the Model Context Protocol. */
export const agents = {
  agent: [
    ['skerry agent create builder --app shop --env production', 'Create an agent for one environment'],
    ['skerry agent dispatch builder --scope API_KEY', 'Give an agent a task that may use one secret'],
  ],
  'agent ls': [
    ['skerry agent ls', 'List the agents'],
    ['skerry agent ls --json', 'Print the agents as JSON'],
  ],
  'agent create': [
    ['skerry agent create builder --app shop --env production', 'Create an agent for one environment'],
    ['skerry agent create builder --name "Build agent"', 'Create an agent with a display name'],
  ],
  'agent show': [
    ['skerry agent show builder', 'Show an agent and its current policy'],
    ['skerry agent show builder --json', 'Print an agent and its policy as JSON'],
  ],
  'agent enable': [
    ['skerry agent enable builder', 'Let a disabled agent work again'],
    ['skerry agent enable builder --json', 'Enable an agent and print it as JSON'],
  ],
  'agent disable': [
    ['skerry agent disable builder', 'Stop an agent and end its tasks'],
    ['skerry agent disable builder --yes', 'Stop an agent without a question'],
  ],
  'agent rm': [
    ['skerry agent rm builder', 'Delete an agent with its policy and activity'],
    ['skerry agent rm builder --yes', 'Delete an agent without a question'],
  ],
  'agent policy': [
    ['skerry agent policy publish builder --file rules.json', 'Sign and publish the rules of an agent'],
    ['skerry agent policy history builder', 'List the versions of a policy'],
  ],
  'agent policy edit': [
    ['skerry agent policy edit builder --file rules.json', 'Write the current rules to a file'],
    ['skerry agent policy edit builder --file rules.json --force', 'Replace an existing file'],
  ],
  'agent policy simulate': [
    [
      'skerry agent policy simulate builder POST https://api.example.com/v1/items --secret API_KEY',
      'Show whether a request may use a secret',
    ],
    [
      'skerry agent policy simulate builder GET https://api.example.com/v1/items --file rules.json',
      'Try rules before you publish them',
    ],
  ],
  'agent policy publish': [
    ['skerry agent policy publish builder --file rules.json', 'Sign and publish the rules of an agent'],
    ['skerry agent policy publish builder --file rules.json --expires 7d', 'Publish rules for one week'],
  ],
  'agent policy history': [
    ['skerry agent policy history builder', 'List the versions of a policy'],
    ['skerry agent policy history builder --json', 'Print the versions as JSON'],
  ],
  'agent policy rollback': [
    ['skerry agent policy rollback builder 3', 'Publish the rules of version 3 again'],
    ['skerry agent policy rollback builder 3 --expires 7d --yes', 'Publish them for one week without a question'],
  ],
  'agent dispatch': [
    ['skerry agent dispatch builder --scope API_KEY --ttl 30m', 'Give an agent one secret for 30 minutes'],
    ['skerry agent dispatch builder --label "fix issue 42" > task-token', 'Save the token of a task to a file'],
  ],
  'agent tasks': [
    ['skerry agent tasks builder', 'List the newest tasks of an agent'],
    ['skerry agent tasks builder --json', 'Print the tasks as JSON'],
  ],
  'agent revoke': [
    ['skerry agent revoke tsk_7Kq2mXw4RtB9vLs1NdYf3c', 'End a task'],
    ['skerry agent revoke tsk_7Kq2mXw4RtB9vLs1NdYf3c --json', 'End a task and print the result as JSON'],
  ],
  'agent review': [
    ['skerry agent review builder', 'Compare the policy with the last 14 days'],
    ['skerry agent review builder --days 90 > rules.json', 'Save a narrower policy from 90 days of activity'],
  ],
  proxy: [
    ['skerry proxy init --preset openai,github', 'Write settings for two services'],
    ['skerry proxy run -- my-agent', 'Start an agent behind the proxy'],
  ],
  'proxy init': [
    ['skerry proxy init --preset openai,github', 'Write settings for two services'],
    ['skerry proxy init --agent builder --signer "$THUMBPRINT"', 'Use the signed policy of an agent'],
  ],
  'proxy compose': [
    [
      'skerry proxy compose --image registry.example.com/skerry:1 --preset openai > compose.yaml',
      'Write a Docker Compose file with a proxy',
    ],
    [
      'skerry proxy compose --image skerry:1 --agent builder --signer "$THUMBPRINT"',
      'Print a file that uses a signed policy',
    ],
  ],
  'proxy run': [
    ['skerry proxy run -- my-agent', 'Start an agent behind the proxy'],
    ['skerry proxy run --preset openai --sandbox -- my-agent', 'Let the agent reach nothing but the proxy'],
  ],
  mcp: [
    ['skerry mcp', 'Serve the tools to the assistant that starts this command'],
    ['skerry mcp --allow-reveal', 'Allow tools to return values when they are asked to'],
  ],
} as const
