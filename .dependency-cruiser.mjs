// The lines that architecture depends on. A rule that matters is a check, not a sentence.
const ours = (name) => `^packages/${name}/`
const only = (name, ...allowed) => ({
  name: `${name}-imports`,
  comment: `${name} stands on ${allowed.length > 0 ? allowed.join(', ') : 'nothing of ours'}`,
  severity: 'error',
  from: { path: ours(name), pathNot: '\\.test\\.ts$|/test/' },
  to: { path: '^packages/', pathNot: [name, ...allowed].map(ours) },
})

/** One rule for each folder: what stands above it, it does not import. */
const above = (...folders) =>
  folders.slice(0, -1).map((folder, index) => ({
    name: `${folder}-is-below`,
    comment: `server/src/${folder} stands below ${folders.slice(index + 1).join(', ')}`,
    severity: 'error',
    from: { path: `^packages/server/src/${folder}/`, pathNot: '\\.test\\.ts$' },
    to: { path: `^packages/server/src/(?:${folders.slice(index + 1).join('|')})/` },
  }))

/** Names, limits and patterns: what clients need of the contract at run time. */
const plainModules = [
  'action|actions|errors|fields|headers|limits|loopback|operations\\.gen|patterns|prefixes',
  '[^/]+/actions',
  'agents/policy-body',
  'audit/(?:archive|sentences?)',
  'changes/approvers',
  'docs/page-path',
  'envs/production',
  'export/archive-(?:check|format|spelling)',
  'grants/readers',
  'kms/specs',
  'leases/facts',
  'notifications/types',
  'recovery/custodians',
  'rotation/facts',
  'sync/names',
  'vault/facts',
  'vendors',
]
const plainContract = `^packages/contract/src/(?:${plainModules.join('|')})\\.ts$`

export default {
  forbidden: [
    only('contract'),
    only('crypto', 'contract'),
    only('sdk', 'contract', 'crypto'),
    only('providers', 'contract'),
    only('proxy', 'contract', 'crypto', 'sdk', 'providers'),
    only('executor', 'contract', 'crypto', 'sdk', 'providers', 'proxy'),
    only('cli', 'contract', 'crypto', 'sdk', 'providers', 'proxy'),
    only('dashboard', 'contract', 'crypto', 'sdk'),
    only('connect', 'contract', 'crypto'),
    only('site', 'contract', 'server', 'cli'),
    {
      name: 'examples-imports',
      comment: 'An example shows what a product writes, so it has no more than a product has',
      severity: 'error',
      from: { path: '^examples/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(?!(sdk|executor)/)' },
    },
    {
      name: 'clients-start-without-schemas',
      comment: 'A schema loads TypeBox: clients take types, names, limits and patterns, and a schema only by import()',
      severity: 'error',
      from: {
        path: '^packages/((crypto|sdk|cli|proxy|executor)/src|(dashboard|connect)/app)/',
        pathNot: '\\.test\\.ts$',
      },
      to: {
        path: ours('contract'),
        pathNot: plainContract,
        dependencyTypesNot: ['type-only'],
        dynamic: false,
      },
    },
    {
      name: 'plain-contract-stays-plain',
      severity: 'error',
      from: { path: plainContract },
      to: { pathNot: plainContract, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'server-holds-no-keys',
      comment: 'Only server/src/keys may decrypt anything, so that anyone can review all of it',
      severity: 'error',
      from: { path: '^packages/server/src/', pathNot: ['^packages/server/src/keys/', '\\.test\\.ts$'] },
      to: { path: '^packages/(?!(contract|providers|server)/)' },
    },
    {
      name: 'keys-need-crypto-alone',
      comment: 'What opens is small: no SDK, no adapter, no code of a client',
      severity: 'error',
      from: { path: '^packages/server/src/keys/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(?!(contract|crypto|server)/)' },
    },
    {
      name: 'one-door-to-the-outside',
      comment:
        'What data of users can steer connects through outbound/ alone. The other folders connect to what the operator has set; config.ts, settings.ts, server.ts and kernel/network.ts look at addresses and open nothing',
      severity: 'error',
      from: {
        path: '^packages/server/src/',
        pathNot: [
          '^packages/server/src/(outbound|db|identity)/',
          '^packages/server/src/(jobs/mail|features/sign-in/external-client|config|settings|server|kernel/network)\\.ts$',
          '\\.test\\.ts$',
        ],
      },
      to: {
        path: '^(node:)?(net|tls|https?|http2|dgram|dns)(/|$)|node_modules/(undici|nodemailer|openid-client|pg)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'providers-are-given-the-outside',
      comment: 'An adapter connects by what it is given, so that the server’s guard is in front of it',
      severity: 'error',
      from: {
        path: '^packages/providers/src/',
        // Two read addresses, the other listens on a socket file and goes on over what it is given.
        pathNot: ['\\.test\\.ts$', '^packages/providers/src/(address|addresses|leases/relay)\\.ts$'],
      },
      to: {
        path: '^(node:)?(net|https?|http2|dgram|dns)(/|$)|node_modules/undici/',
        dependencyTypesNot: ['type-only'],
      },
    },
    // The folders of the server, lowest first: each stands on those before it, types included, and nothing points back up.
    ...above('db', 'kernel', 'keys', 'model', 'outbound', 'jobs', 'events', 'identity', 'http', 'features', 'operator'),
    {
      name: 'settings-are-below',
      severity: 'error',
      from: { path: '^packages/server/src/(config|settings)\\.ts$' },
      to: { path: '^packages/server/src/[^/]+/' },
    },
    {
      name: 'the-whole-is-above',
      comment: 'app.ts lists what there is, and server.ts and run.ts start it: no folder stands on them',
      severity: 'error',
      from: { path: '^packages/server/src/[^/]+/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/server/src/(app|server|run)\\.ts$' },
    },
    {
      name: 'the-list-is-above',
      comment: 'features.ts imports every feature: only app.ts and commands of operators import it',
      severity: 'error',
      from: { path: '^packages/server/src/(?!operator/)[^/]+/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/server/src/features\\.ts$' },
    },
    {
      name: 'stores-are-private',
      comment: 'A feature’s SQL is its own; others call its functions. The parts of the vault are one feature',
      severity: 'error',
      from: { path: '^packages/server/src/features/([^/]+)/' },
      to: {
        path: '^packages/server/src/features/.+[/-]store\\.ts$',
        pathNot: '^packages/server/src/features/$1/',
      },
    },
    {
      name: 'stores-are-private-to-features',
      severity: 'error',
      from: { path: '^packages/server/src/(?!features/)' },
      to: { path: '^packages/server/src/features/.+[/-]store\\.ts$' },
    },
    {
      name: 'keys-stay-in-the-worker',
      comment: 'Of the dashboard, only the worker has keys: it can reach no network, and ends when the keyring locks',
      severity: 'error',
      from: { path: '^packages/dashboard/app/', pathNot: '^packages/dashboard/app/worker/' },
      to: { path: '^packages/crypto/' },
    },
    {
      name: 'one-reader-of-the-environment',
      comment:
        'main.js starts the server, and operator/main.js a command of the operator; nothing else may import them, ' +
        'except `skerry-server start`, which is the server',
      severity: 'error',
      from: { pathNot: '^packages/server/src/operator/main\\.js$' },
      to: { path: '^packages/server/src/(operator/)?main\\.js$' },
    },
    {
      name: 'browsers-too',
      comment:
        'contract, crypto, sdk, the dashboard and the Connect page run in browsers and workers; only sdk/src/node may use Node',
      severity: 'error',
      from: {
        path: '^packages/((contract|crypto|sdk)/src|(dashboard|connect)/app)/',
        pathNot: ['^packages/sdk/src/node/', '\\.test\\.ts$'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-test-code-in-the-product',
      severity: 'error',
      // The hostile server is a test that people run by themselves.
      from: { path: '^packages/[^/]+/src/', pathNot: ['^packages/hostile/', '\\.test\\.ts$'] },
      to: { path: '/test/|\\.test\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment: 'Files that need each other cannot be read one after the other, even where they only need types',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/(cli|dashboard|connect)/dist' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
