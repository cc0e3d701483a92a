/** Tasks with machines, deployments, temporary credentials and agents. */
export const machines = [
  {
    title: 'Use secrets in GitHub Actions or another CI',
    words:
      'give token reads only production github actions gitlab jenkins circleci pipeline build token service account machine deploy',
    steps: [
      ['skerry token create github-actions --app shop --env production --expires 90d', 'Create a token'],
      ['gh secret set SKERRY_TOKEN', 'Paste it as a secret of the repository'],
      ['skerry run --mask -- ./deploy.sh', 'In the job, run with SKERRY_TOKEN and SKERRY_URL set'],
    ],
    document: 'docs/guides/ci.md',
  },
  {
    title: 'Use secrets in Docker and Docker Compose',
    words: 'container image dockerfile compose env-file podman build docker-compose',
    steps: [
      ['skerry run -- docker compose up', 'Give the variables that compose.yaml names to containers'],
      ['skerry secrets export --format docker --out shop.env', 'Or write a file for --env-file'],
      ['docker run --env-file shop.env shop', 'Start a container with the file'],
    ],
    document: 'docs/guides/compose.md',
  },
  {
    title: 'Use secrets in Kubernetes',
    words: 'k8s cluster helm pod secret kubectl operator external secrets eso webhook sidecar manifest deployment',
    steps: [
      ['skerry secrets export --env production --format k8s --out secret.yaml', 'Write a Secret'],
      ['kubectl apply -f secret.yaml', 'Create it in the cluster'],
      ['rm secret.yaml', 'Delete the file'],
      ['skerry token create cluster --app shop --env production', 'Or let pods run skerry with a token'],
      ['skerry serve --port 8700', 'Or answer the External Secrets Operator'],
    ],
    document: 'docs/guides/kubernetes.md',
  },
  {
    title: 'Use secrets in a systemd service',
    words: 'linux server daemon unit environmentfile loadcredential credential vm host',
    steps: [
      ['skerry token create web-1 --app shop --env production', 'Create a token for the host'],
      ['skerry run -- /usr/local/bin/shop', 'Start the service with SKERRY_TOKEN set'],
      ['skerry serve --credentials /run/skerry', 'Or serve the values for LoadCredential'],
      ['skerry secrets export --format systemd --out /run/shop.env', 'Or write a file for EnvironmentFile'],
    ],
    document: 'docs/serve.md#systemd',
  },
  {
    title: 'Pass secrets to Terraform',
    words: 'tf_var prefix infrastructure opentofu variables iac pulumi',
    steps: [['skerry run --prefix TF_VAR_ -- terraform apply', 'Put TF_VAR_ before each name']],
    document: 'docs/command-line/run.md#which-values-a-program-gets',
  },
  {
    title: 'Automate administration',
    words: 'machine client oauth api script provision manage terraform service account bot',
    steps: [
      ['skerry client create terraform', 'Create a client that manages and reads no secrets'],
      ['skerry token create automation --admin', 'Or create a token that can also be granted keys'],
    ],
    document: 'docs/glossary.md#people-and-programs',
  },
  {
    title: 'Replace a leaked token of a machine',
    words: 'rotate renew expire expired leaked compromised revoke service token api key stolen',
    steps: [
      ['skerry token create ci-2 --app shop --env production --expires 90d', 'Create a new token'],
      ['skerry token revoke ci --end-leases', 'End the old one when nothing uses it'],
      ['skerry env rekey production', 'If it leaked, replace the key of the environment'],
    ],
    document: 'docs/guides/leaked-token.md',
  },
  {
    title: 'Rotate a database password',
    words:
      'rotation renew change credential postgres postgresql mysql mariadb redis schedule automatic regular daily weekly monthly secret engine',
    steps: [
      ['skerry lease target create shop-db --file admin-url', 'Register the database'],
      [
        'skerry rotation create DB_PASSWORD --every 30d --kind postgres --target shop-db --username app',
        'Rotate the password of an account every 30 days',
      ],
      ['skerry rotation run DB_PASSWORD', 'Rotate it now'],
      ['skerry rotation show DB_PASSWORD', 'Show the last run and its error'],
    ],
    document: 'docs/rotation.md#rotate-a-database-password',
  },
  {
    title: 'Rotate a random value on a schedule',
    words: 'generated key session cookie jwt renew change automatic regular replace',
    steps: [
      ['skerry rotation create SESSION_KEY --every 30d --length 64 --now', 'Rotate now and every 30 days'],
      ['skerry rotation ls', 'Show when each secret is rotated next'],
    ],
    document: 'docs/rotation.md',
  },
  {
    title: 'Get a temporary database account',
    words:
      'lease dynamic secret credential postgres mysql mongodb redis psql short-lived ephemeral expire django rails application jit engine',
    steps: [
      ['skerry lease target create shop-db --file admin-url --level readonly', 'Register the database once'],
      ['skerry lease create shop-db -- psql', 'Open it with an account that ends with psql'],
      ['skerry lease ls --live', 'List the accounts that still work'],
    ],
    document: 'docs/leases.md',
  },
  {
    title: 'Sign in to a host with an SSH certificate',
    words: 'ssh server key ca authority bastion teleport signed login remote',
    steps: [
      ['skerry lease target create hosts --file ssh_ca --principal deploy', 'Register the authority once'],
      ['skerry ssh hosts deploy@web-1.example.com', 'Sign in with a certificate of 5 minutes'],
    ],
    document: 'docs/leases/ssh.md',
  },
  {
    title: 'Get temporary AWS credentials',
    words: 'amazon iam role sts assume session cloud google gcp access key aws-vault',
    steps: [
      ['skerry lease target create aws --config role.json --file access-key', 'Register a role once'],
      ['skerry lease create aws --ttl 1h -- aws s3 ls', 'Run a program with a session of the role'],
    ],
    document: 'docs/leases/aws.md',
  },
  {
    title: 'Create accounts from inside a private network',
    words: 'provisioner firewall vpc internal on-premises agent gateway behind',
    steps: [
      ['skerry token create inner-network --provisioner', 'Create a token for the process'],
      ['skerry provisioner --allow db.internal:5432', 'Run it in the network, with SKERRY_TOKEN set'],
      ['skerry lease target create shop-db --provisioner inner-network', 'Register the database'],
    ],
    document: 'docs/leases/own-network.md',
  },
  {
    title: 'Push secrets from Skerry to GitHub Actions',
    words: 'sync integration repository ci secrets code host workflow',
    steps: [
      ['skerry sync connect github-actions --name github', 'Store a credential'],
      [
        'skerry sync bind github --env production --to kind=repo --to owner=acme --to repo=shop',
        'Push an environment to a repository',
      ],
      ['skerry sync runs github', 'List the pushes'],
    ],
    document: 'docs/sync.md#at-the-command-line',
  },
  {
    title: 'Push secrets to Vercel, Cloudflare or another platform',
    words: 'sync integration netlify fly heroku render railway workers pages deploy frontend hosting digitalocean',
    steps: [
      ['skerry sync providers', 'List the platforms'],
      ['skerry sync connect vercel', 'Store a credential'],
      ['skerry sync bind vercel --env production --to projectId=shop --to targets=production', 'Push'],
      ['skerry sync runs vercel', 'List the pushes'],
    ],
    document: 'docs/sync.md#at-the-command-line',
  },
  {
    title: 'Push secrets to AWS Secrets Manager',
    words: 'sync amazon parameter store ssm google secret manager gcp azure key vault cloud integration',
    steps: [
      ['skerry sync connect aws-secrets-manager --set region=eu-central-1', 'Store a credential'],
      ['skerry sync bind aws-secrets-manager --env production', 'Choose the layout of the secrets and push'],
      ['skerry sync plan aws-secrets-manager', 'Show what the next push does'],
    ],
    document: 'docs/sync.md#at-the-command-line',
  },
  {
    title: 'Let an AI agent use secrets that it cannot read',
    words: 'agent proxy llm openai anthropic claude policy placeholder sandbox assistant bot inject',
    steps: [
      ['skerry agent create builder --app shop --env production', 'Create the agent'],
      ['skerry agent policy publish builder --file rules.json', 'Sign what it may do'],
      ['skerry proxy init --agent builder --signer "$THUMBPRINT"', 'Write the settings of the proxy'],
      ['skerry proxy run -- my-agent', 'Start it behind the proxy'],
    ],
    document: 'docs/agents.md',
  },
  {
    title: 'Use Skerry from an editor with MCP',
    words: 'model context protocol assistant claude cursor vscode copilot ide tool server ai',
    steps: [
      ['skerry mcp', 'Let the editor start this command as a server'],
      ['skerry token create editor --app shop --env development', 'Give it a token of one environment'],
    ],
    document: 'docs/command-line/assistants.md',
  },
  {
    title: 'Encrypt data with a managed key',
    words: 'kms decrypt transit encryption key file data cipher envelope aws sdk gateway',
    steps: [
      ['skerry kms create invoices', 'Create a key'],
      ['skerry kms encrypt invoices --file invoice.pdf --out invoice.enc', 'Encrypt a file'],
      ['skerry kms decrypt invoices --file invoice.enc --out invoice.pdf', 'Decrypt it'],
      ['skerry kms grant invoices worker', 'Let a token use the key'],
    ],
    document: 'docs/kms.md',
  },
  {
    title: 'Sign and verify a file with a managed key',
    words: 'kms signature release artifact ed25519 ecdsa cosign transit gpg',
    steps: [
      ['skerry kms create releases --spec ed25519', 'Create a key that signs'],
      ['skerry kms sign releases --file shop.tar.gz --out shop.tar.gz.sig', 'Sign a file'],
      ['skerry kms verify shop.tar.gz.sig --file shop.tar.gz --key releases', 'Verify it'],
    ],
    document: 'docs/kms.md',
  },
  {
    title: 'Plant a decoy and learn who tries it',
    words: 'honey token canary honeypot honeytoken trap intrusion detection breach leak alarm',
    steps: [
      ['skerry honey create "wiki page of the database"', 'Create a decoy and put it there'],
      ['skerry honey ls', 'Show which decoys were tried, and from where'],
      ['skerry notifications enable honey_token_tripped', 'Receive mail when somebody tries one'],
    ],
    document: 'docs/hostile.md#8-decoys-honey-tokens',
  },
  {
    title: 'Store the accounts of your product’s users',
    words: 'vault connect oauth api keys customers integrations nango tokens third party executor webhook',
    steps: [
      ['skerry vault project create planner --return-origin https://app.example.com', 'Create a project'],
      ['skerry vault executor register-code', 'Create a code for the executor'],
      ['skerry vault key create', 'Create a key for your backend'],
      ['skerry vault webhook create https://app.example.com/hooks', 'Receive events'],
    ],
    document: 'docs/vault.md#set-up',
  },
] as const
