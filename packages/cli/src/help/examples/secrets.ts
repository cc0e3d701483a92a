/** Examples of secrets and of changes that wait for approval. */
export const secrets = {
  serve: [
    ['skerry serve --socket /run/user/1000/shop.sock', 'Answer programs of your own user'],
    ['skerry serve --credentials /run/skerry', 'Make a socket for each secret, for systemd'],
  ],
  secrets: [
    ['skerry secrets ls', 'List the secrets of this folder’s environment'],
    ['skerry secrets set DATABASE_URL', 'Ask for a value and write it'],
  ],
  'secrets ls': [
    ['skerry secrets ls', 'List names and the source of each secret'],
    ['skerry secrets ls --env production --reveal', 'Show the values of production'],
  ],
  'secrets get': [
    ['skerry secrets get DATABASE_URL --reveal', 'Show a value on the terminal'],
    ['skerry secrets get TLS_KEY --env production > tls.key', 'Write a value to a file'],
  ],
  'secrets history': [
    ['skerry secrets history DATABASE_URL', 'List who wrote each version, and when'],
    ['skerry secrets history API_KEY --env production --limit 5 --reveal', 'Show the last five values of a secret'],
  ],
  'secrets diff': [
    ['skerry secrets diff staging production', 'Show which names differ between two environments'],
    ['skerry secrets diff production shop/production@pr-42 --exit-code', 'Exit with 1 if a branch differs'],
  ],
  'secrets set': [
    ['skerry secrets set DATABASE_URL', 'Ask for a value and write it'],
    ['skerry secrets set TLS_KEY --env production --file tls.key', 'Write the content of a file'],
  ],
  'secrets edit': [
    ['skerry secrets edit', 'Edit all secrets of the environment in your editor'],
    ['skerry secrets edit DATABASE_URL REDIS_URL --env staging', 'Edit two secrets of staging'],
  ],
  'secrets copy': [
    ['skerry secrets copy STRIPE_KEY --to staging', 'Copy a secret to another environment of the application'],
    ['skerry secrets copy SMTP_URL SENTRY_DSN --env production --to shared:production', 'Copy two secrets to a group'],
  ],
  'secrets generate': [
    ['skerry secrets generate SESSION_KEY COOKIE_KEY', 'Write two random values'],
    ['skerry secrets generate SESSION_KEY --length 64 --overwrite', 'Replace a value with a longer random one'],
  ],
  'secrets rm': [
    ['skerry secrets rm OLD_API_KEY OLD_DSN --env production --yes', 'Delete two secrets without a question'],
    ['skerry secrets rm LEAKED_KEY --purge', 'Delete a secret for good'],
  ],
  'secrets restore': [
    ['skerry secrets restore DATABASE_URL 3', 'Make version 3 the current one again'],
    ['skerry secrets restore OLD_API_KEY', 'Bring back a deleted secret'],
  ],
  'secrets rename': [
    ['skerry secrets rename STRIPE_KEY STRIPE_SECRET_KEY', 'Give a secret another name, with its history'],
    ['skerry secrets rename STRIPE_KEY STRIPE_SECRET_KEY --env production --dry-run', 'See which values refer to it'],
  ],
  'secrets describe': [
    ['skerry secrets describe STRIPE_KEY --description "Charges cards" --tag payments', 'Say what a secret is for'],
    ['skerry secrets describe STRIPE_KEY --owner ada@example.com --expires 2027-03-01', 'Remind somebody of a date'],
  ],
  'secrets override': [
    ['skerry secrets override DATABASE_URL', 'Type a value that only your programs get'],
    ['skerry secrets override DATABASE_URL --remove', 'Get the shared value again'],
  ],
  'secrets overrides': [
    ['skerry secrets overrides', 'List the names that you override in this folder’s environment'],
    ['skerry secrets overrides --reveal --env staging', 'Show your values in staging'],
  ],
  'secrets deleted': [
    ['skerry secrets deleted', 'List the deleted secrets of this folder’s environment'],
    ['skerry secrets deleted --env production', 'List those of production'],
  ],
  'secrets import': [
    ['skerry secrets import .env', 'Write the values of a .env file'],
    ['skerry secrets import .env.production --env production --dry-run', 'Show what an import would change'],
  ],
  'secrets export': [
    ['skerry secrets export --out .env', 'Write a .env file that only you can read'],
    ['skerry secrets export --env production --format k8s --out secret.yaml', 'Write a Kubernetes Secret'],
  ],
  'secrets substitute': [
    ['skerry secrets substitute nginx.conf.tpl --out nginx.conf', 'Fill in the secrets of a template'],
    ['cat config.tpl | skerry secrets substitute - --env production > config.yaml', 'Fill in a template from stdin'],
  ],
  changes: [
    ['skerry changes ls', 'List the changes that wait for approval'],
    ['skerry changes approve chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Approve a change'],
  ],
  'changes ls': [
    ['skerry changes ls', 'List the changes that wait for approval'],
    ['skerry changes ls --env production --status applied', 'List the applied changes of production'],
  ],
  'changes show': [
    ['skerry changes show chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Show which secrets a change writes and deletes'],
    ['skerry changes show chg_7Kq2mXw4RtB9vLs1NdYf3c --reveal', 'Compare the proposed and current values'],
  ],
  'changes propose': [
    ['skerry changes propose .env.production --env production --note "new cluster"', 'Propose the values of a file'],
    ['skerry changes propose --delete OLD_API_KEY --env production', 'Propose to delete a secret'],
  ],
  'changes approve': [
    ['skerry changes approve chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Approve a change'],
    [
      'skerry changes approve chg_7Kq2mXw4RtB9vLs1NdYf3c --comment "tested" --yes',
      'Approve it in a script, with a comment',
    ],
  ],
  'changes reject': [
    ['skerry changes reject chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Reject a change'],
    ['skerry changes reject chg_7Kq2mXw4RtB9vLs1NdYf3c --comment "wrong host"', 'Reject it with a reason'],
  ],
  'changes withdraw': [
    ['skerry changes withdraw chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Withdraw a change that you proposed'],
    ['skerry changes withdraw chg_7Kq2mXw4RtB9vLs1NdYf3c --json', 'Withdraw it and print the result as JSON'],
  ],
} as const
