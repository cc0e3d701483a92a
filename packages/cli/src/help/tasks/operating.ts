/** Tasks with the audit log, archives, scripts and servers. */
export const operating = [
  {
    title: 'See what the server and its operator can read',
    words:
      'threat model who can admin administrator hostile malicious operator person runs run hoster see sees cannot never zero knowledge end-to-end e2e encryption encrypted privacy metadata ciphertext decrypt secrets values stolen theft thief database dump copy disk contain contains',
    steps: [
      ['skerry env readers production', 'Check an environment. Rotation and sync connections are parts of the server'],
      ['skerry rotation ls', 'List the rotations. The server reads the environment of each'],
      ['skerry sync ls', 'List what is pushed. The server reads what it pushes'],
      ['skerry env rekey production --drop-readers', 'Replace a key, and give the new one to no part of the server'],
    ],
    document: 'docs/threat-model.md#what-the-server-can-read',
  },
  {
    title: 'Find out whether the server is lying',
    words:
      'lie lies lied malicious hostile evil compromised hacked tampered false fake wrong answer warning believe threat rollback replay suspicious',
    steps: [
      ['SKERRY_STRICT=1 skerry run -- npm start', 'Refuse every answer that contradicts what this machine has seen'],
      ['skerry audit checkpoint --compare checkpoint.txt', 'Compare the audit log with what a colleague was shown'],
      ['skerry dashboard verify https://skerry.example.com', 'Check the pages that the server serves to you'],
      ['skerry members ls', 'Compare the words of a key with its owner, by another way than Skerry'],
    ],
    document: 'docs/threat-model.md#what-a-hostile-server-can-try',
  },
  {
    title: 'Accept a changed key, and trust it from now on',
    words:
      'trusts trusted trusting accept another new changed replaced identity fingerprint pin words warning refused members env kms target recovery',
    steps: [
      ['skerry members trust bob@example.com', 'A person has another key: compare its words first'],
      ['skerry env trust production', 'An environment was re-keyed or made anew: ask first who did it'],
      ['skerry kms trust invoices', 'A managed key has another key'],
      ['skerry lease target trust shop-db', 'A lease target has another address or setting'],
      ['skerry rotation trust', 'The operator replaced the key of the rotator'],
      ['skerry sync trust vercel', 'The operator replaced the key of a sync connection'],
      ['skerry recovery trust', 'The organization has another recovery key'],
    ],
    document: 'docs/command-line/access.md#who-gets-a-key',
  },
  {
    title: 'Search the audit log',
    words: 'who did what when events history activity find access read trail compliance',
    steps: [
      ['skerry audit ls --actor bob@example.com --since 7d', 'List what a member did in a week'],
      ['skerry audit ls --action secret.written --text DATABASE_URL', 'Find who wrote a secret'],
      ['skerry audit timeline --since 24h', 'Count the entries of each hour'],
    ],
    document: 'docs/audit.md#searching-a-long-log',
  },
  {
    title: 'Find out who read a secret',
    words: 'who has seen sees viewed looked accessed access leaked can reader readers reads value recorded log audit',
    steps: [
      ['skerry env readers production', 'Reads that were allowed are not recorded. List who can read'],
      ['skerry audit ls --action env.resolve_denied', 'List the reads that were denied'],
      ['skerry audit ls --action key.granted --since 30d', 'List who was given a key'],
    ],
    document: 'docs/audit.md',
  },
  {
    title: 'Prove that the audit log was not changed',
    words: 'verify tamper integrity merkle checkpoint transparency compliance auditor signed proof trail',
    steps: [
      ['skerry audit verify', 'Check the whole log on this machine'],
      ['skerry audit checkpoint > checkpoint.txt', 'Save the checkpoint where the operator cannot write'],
      ['skerry audit checkpoint --compare checkpoint.txt', 'Compare with the checkpoint of a colleague'],
    ],
    document: 'docs/audit.md#proof-that-nothing-was-changed',
  },
  {
    title: 'Send the audit log to a collector',
    words: 'siem splunk datadog elastic opentelemetry otlp stream forward export logs grafana loki',
    steps: [
      [
        'skerry log-sink set https://collector.example.com/v1/logs --headers-file headers.txt',
        'Send entries with an authorization header',
      ],
      ['skerry log-sink test', 'Send a sample entry'],
      ['skerry log-sink status', 'Show whether entries arrive'],
    ],
    document: 'docs/audit.md#sending-the-log-to-a-collector',
  },
  {
    title: 'Choose which mails you receive',
    words: 'notification email alert subscribe unsubscribe events',
    steps: [
      ['skerry notifications ls', 'List events, and which are mailed to you'],
      ['skerry notifications disable sync_failed', 'Receive no mail about an event'],
    ],
    document: 'docs/operations/people.md#mails-and-second-factors',
  },
  {
    title: 'Send mails through an SMTP server',
    words: 'mail email e-mail outbox smtps starttls sendgrid postmark ses invitation link not arriving',
    steps: [
      ['SKERRY_SMTP_URL=smtps://mail.example.com npm start', 'Start the server with an SMTP server'],
      ['ls .skerry/outbox', 'Without one, mails are files in the data directory of the server'],
      ['skerry notifications ls', 'List which mails you receive'],
    ],
    document: 'docs/operations/people.md#the-first-person-and-everyone-else',
  },
  {
    title: 'Back up the server and its database',
    words:
      'what which to backup backups copy dump save disaster data directory operator pg_dump postgres snapshot restore',
    steps: [
      ['cp -a .skerry ../skerry-backup', 'Without PostgreSQL, stop the server, then copy its data directory'],
      [
        'pg_dump --format custom --file skerry.dump "$SKERRY_DATABASE_URL"',
        'With PostgreSQL, dump it, and keep SKERRY_SERVER_KEY apart',
      ],
      [
        'skerry token create backup --admin --env production > backup-token',
        'Create a token that can read, and keep it apart from the backup',
      ],
      ['skerry grant backup --all', 'Give it the key of every environment that you can read'],
    ],
    document: 'docs/operations/backup.md',
  },
  {
    title: 'Restore the server from a backup',
    words: 'backup disaster recovery database dump pg_restore postgres lost disk broken old state',
    steps: [
      ['cp -a ../skerry-backup .skerry', 'Without PostgreSQL, after you have moved the damaged .skerry away'],
      ['pg_restore --no-owner --dbname "$SKERRY_DATABASE_URL" skerry.dump', 'With PostgreSQL, into an empty database'],
      ['npm start', 'With the SKERRY_SERVER_KEY of the time of the backup'],
      ['skerry env trust production', 'If your machine remembers a newer state'],
    ],
    document: 'docs/operations/backup.md#restore-for-real',
  },
  {
    title: 'Upgrade Skerry',
    words: 'update new version release migrate migration newer server git pull npm self-update',
    steps: [
      ['cp -a .skerry ../skerry-backup', 'Stop the server, and make a backup'],
      ['git pull && npm ci', 'Fetch the new release in the clone of Skerry'],
      ['npm start', 'Start the server, which migrates its database'],
      ['npm install --global ./packages/cli', 'Install the new command, if you installed it from the clone'],
    ],
    document: 'docs/operations/upgrade.md',
  },
  {
    title: 'Export an organization into a file',
    words: 'back up backup archive save copy download dump disaster',
    steps: [
      ['skerry org export acme.json', 'Write everything to one signed file'],
      ['skerry org export verify acme.json --key "$SIGNING_KEY"', 'Check it without a server'],
      [
        'skerry token create backup --admin --env production > backup-token',
        'Create a token that can read, and keep it apart from the archive',
      ],
      ['skerry grant backup --all', 'Give it the key of every environment that you can read'],
    ],
    document: 'docs/export.md',
  },
  {
    title: 'Restore an organization, or move it to another server',
    words: 'migrate import archive backup disaster transfer new server host',
    steps: [
      ['skerry org export acme.json', 'On the old server, write the archive'],
      ['npx skerry-server org restore acme.json --key "$SIGNING_KEY"', 'On the new server, restore it'],
      ['skerry token register --request > request.json', 'Where a token is, prepare a request'],
      ['skerry token register --from request.json', 'As an admin, register the token again'],
    ],
    document: 'docs/export.md#restoring',
  },
  {
    title: 'Run your own server with PostgreSQL',
    words: 'self-host selfhost install deploy production database docker operate postgres',
    steps: [
      ['SKERRY_DATABASE_URL=postgres://skerry@db.internal/skerry npm start', 'Start a server'],
      ['skerry dashboard verify https://skerry.example.com', 'Check the dashboard that it serves'],
    ],
    document: 'docs/operations/postgresql.md',
  },
  {
    title: 'Serve Skerry over HTTPS behind a reverse proxy',
    words: 'tls ssl https certificate nginx caddy haproxy traefik private ca own domain public address internet port',
    steps: [
      ['SKERRY_BASE_URL=https://skerry.example.com SKERRY_TRUSTED_PROXIES=loopback npm start', 'Start the server'],
      ['curl https://skerry.example.com/ready', 'Ask through the proxy whether the server answers'],
    ],
    document: 'docs/operations/reverse-proxy.md',
  },
  {
    title: 'Give the server a new address',
    words: 'change server address url domain hostname dns name moved',
    steps: [
      ['SKERRY_BASE_URL=https://skerry.example.com npm start', 'Start the server with the new address'],
      ['skerry login --url https://skerry.example.com', 'On each machine, sign in again'],
      ['skerry setup --url https://skerry.example.com --yes', 'In each project, and commit skerry.json'],
    ],
    document: 'docs/operations/reverse-proxy.md#when-the-address-changes',
  },
  {
    title: 'Run several servers, so that one may fail',
    words: 'ha high availability available failover redundant cluster second two replica load balancer haproxy nginx',
    steps: [
      ['SKERRY_PORT=4701 npm start', 'Start each server with the same database, server key and address'],
      ['curl http://127.0.0.1:4701/ready', 'Ask what the proxy asks: may this server get requests?'],
    ],
    document: 'docs/operations/several-servers.md',
  },
  {
    title: 'Remove Skerry from a machine',
    words: 'uninstall delete purge clean remove server command line package',
    steps: [['npm uninstall --global @skerry/cli', 'Remove the command, if you installed it with npm']],
    document: 'docs/operations/commands.md#remove',
  },
  {
    title: 'Use Skerry in a script',
    words: 'json machine readable output jq automate bash api scripting stdout parse yes confirmation',
    steps: [
      ['skerry secrets ls --json', 'Print names and sources as JSON'],
      ['skerry secrets rm OLD_API_KEY --yes', 'Change something without a question'],
      ['echo -n "$VALUE" | skerry secrets set API_KEY', 'Write a value from stdin'],
    ],
    document: 'docs/command-line.md',
  },
  {
    title: 'Understand exit codes',
    words: 'exit code status return error number script failed 1 2 3 4 5 6 126 127 130',
    steps: [
      ['skerry --help', 'List the exit codes and environment variables'],
      ['skerry secrets diff staging production --exit-code', 'Exit with 1 if two environments differ'],
    ],
    document: 'docs/command-line.md',
  },
  {
    title: 'Complete commands with the Tab key',
    words: 'completion autocomplete tab bash zsh fish shell',
    steps: [
      ['skerry completion bash > ~/.local/share/bash-completion/completions/skerry', 'Install it for bash'],
      ['skerry completion fish > ~/.config/fish/completions/skerry.fish', 'Install it for fish'],
    ],
    document: 'docs/command-line/names.md#completion',
  },
  {
    title: 'See and change your plan',
    words: 'billing price upgrade usage limit quota pay subscription cancel invoice',
    steps: [
      ['skerry plan usage', 'Show how much of the plan is used'],
      ['skerry plan checkout team', 'Print the address where you buy a plan'],
      ['skerry plan portal', 'Print the address where you manage payments'],
    ],
    document: 'docs/plans.md',
  },
] as const
