/** Examples of sync destinations and managed keys. */
export const platforms = {
  sync: [
    ['skerry sync connect github-actions --name github', 'Store a credential of GitHub'],
    ['skerry sync bind github --app shop --env production', 'Push an environment to GitHub Actions'],
  ],
  'sync ls': [
    ['skerry sync ls', 'List connections and what is pushed where'],
    ['skerry sync ls --json', 'Print connections and bindings as JSON'],
  ],
  'sync providers': [
    ['skerry sync providers', 'List the platforms'],
    ['skerry sync providers vercel', 'Show the fields that Vercel needs'],
  ],
  'sync connect': [
    ['skerry sync connect vercel', 'Ask for a Vercel token and store it'],
    ['skerry sync connect github-actions --name github --file github-token', 'Read a GitHub token from a file'],
  ],
  'sync verify': [
    ['skerry sync verify vercel', 'Check a credential and ask for the destination'],
    ['skerry sync verify github --to kind=repo --to owner=acme --to repo=shop', 'Check access to one repository'],
  ],
  'sync bind': [
    ['skerry sync bind vercel --env production --to projectId=shop --to targets=production', 'Push to Vercel'],
    ['skerry sync bind github --to kind=repo --to owner=acme --to repo=shop', 'Push to the secrets of a repository'],
  ],
  'sync plan': [
    ['skerry sync plan vercel', 'Show the names that a push would write and delete'],
    ['skerry sync plan syb_7Kq2mXw4RtB9vLs1NdYf3c --json', 'Print the plan of a binding as JSON'],
  ],
  'sync run': [
    ['skerry sync run vercel', 'Push an environment now'],
    ['skerry sync run vercel --adopt DATABASE_URL', 'Overwrite a value that somebody wrote at Vercel'],
  ],
  'sync runs': [
    ['skerry sync runs', 'List the last pushes of all bindings'],
    ['skerry sync runs vercel --limit 5', 'List the last five pushes to Vercel'],
  ],
  'sync edit': [
    ['skerry sync edit vercel --exclude "DB_*" --on-delete delete', 'Push fewer names and delete the others there'],
    ['skerry sync edit vercel --keys', 'Give the connection the key of a new group'],
  ],
  'sync pause': [
    ['skerry sync pause vercel', 'Push nothing until you resume'],
    ['skerry sync pause syb_7Kq2mXw4RtB9vLs1NdYf3c', 'Pause a binding by its id'],
  ],
  'sync resume': [
    ['skerry sync resume vercel', 'Push an environment again, after a pause'],
    ['skerry sync resume vercel --yes', 'Push again without a question'],
  ],
  'sync unbind': [
    ['skerry sync unbind vercel', 'Stop pushing and keep what was pushed'],
    ['skerry sync unbind syb_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Delete a binding by its id'],
  ],
  'sync replace': [
    ['skerry sync replace vercel', 'Ask for a new credential'],
    ['skerry sync replace vercel --file vercel-token --yes', 'Read the new credential from a file'],
  ],
  'sync trust': [
    ['skerry sync trust vercel', 'Accept the new key that the server shows for a connection'],
    ['skerry sync trust syn_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Accept it without a question'],
  ],
  'sync rename': [
    ['skerry sync rename vercel vercel-shop', 'Change the name of a connection'],
    ['skerry sync rename syn_7Kq2mXw4RtB9vLs1NdYf3c github', 'Rename a connection by its id'],
  ],
  'sync disconnect': [
    ['skerry sync disconnect vercel', 'Delete a connection and its bindings'],
    ['skerry sync disconnect vercel --yes', 'Delete them without a question'],
  ],
  kms: [
    ['skerry kms create invoices', 'Create a key that encrypts'],
    ['skerry kms encrypt invoices --file invoice.pdf --out invoice.enc', 'Encrypt a file'],
  ],
  'kms ls': [
    ['skerry kms ls', 'List the managed keys'],
    ['skerry kms ls --json', 'Print the managed keys as JSON'],
  ],
  'kms create': [
    ['skerry kms create invoices', 'Create a key that encrypts'],
    ['skerry kms create releases --spec ed25519 --for-app shop', 'Create a key that signs, for one application'],
  ],
  'kms show': [
    ['skerry kms show invoices', 'Show who holds which versions of a key'],
    ['skerry kms show invoices --json', 'Print a key and its holders as JSON'],
  ],
  'kms grant': [
    ['skerry kms grant invoices bob@example.com', 'Give a key to a member'],
    ['skerry kms grant invoices worker --reader worker', 'Give a key to a token without a question'],
  ],
  'kms revoke': [
    ['skerry kms revoke invoices bob@example.com', 'Take a key from a member'],
    ['skerry kms revoke invoices worker --yes', 'Take a key from a token without a question'],
  ],
  'kms rotate': [
    ['skerry kms rotate invoices', 'Make a new version for all holders'],
    ['skerry kms rotate invoices --yes', 'Make a new version without a question'],
  ],
  'kms disable': [
    ['skerry kms disable invoices', 'Stop all use of a key'],
    ['skerry kms disable invoices --yes', 'Stop all use of a key without a question'],
  ],
  'kms enable': [
    ['skerry kms enable invoices', 'Allow the use of a disabled key'],
    ['skerry kms enable kms_7Kq2mXw4RtB9vLs1NdYf3c', 'Enable a key by its id'],
  ],
  'kms rm': [
    ['skerry kms rm old-invoices', 'Delete a key whose data you need no more'],
    ['skerry kms rm old-invoices --yes', 'Delete a key without a question'],
  ],
  'kms trust': [
    ['skerry kms trust invoices', 'Accept a key that your team replaced'],
    ['skerry kms trust invoices --yes', 'Accept a replaced key without a question'],
  ],
  'kms encrypt': [
    ['skerry kms encrypt invoices --file invoice.pdf --out invoice.enc', 'Encrypt a file'],
    ['echo -n "$CARD" | skerry kms encrypt invoices --context customer/17', 'Encrypt a text for one customer'],
  ],
  'kms decrypt': [
    ['skerry kms decrypt invoices --file invoice.enc --out invoice.pdf', 'Decrypt a file'],
    ['skerry kms decrypt invoices --file card.enc --context customer/17 --reveal', 'Show a decrypted text'],
  ],
  'kms data-key': [
    ['skerry kms data-key invoices --out data.key > data.key.wrapped', 'Save a data key, plain and wrapped'],
    ['skerry kms data-key invoices --bytes 64 --json', 'Print a longer data key as JSON'],
  ],
  'kms sign': [
    ['skerry kms sign releases --file shop.tar.gz --out shop.tar.gz.sig', 'Sign a file'],
    ['git rev-parse HEAD | skerry kms sign releases', 'Sign the id of a commit'],
  ],
  'kms verify': [
    ['skerry kms verify shop.tar.gz.sig --file shop.tar.gz', 'Verify the signature of a file'],
    ['skerry kms verify shop.tar.gz.sig --file shop.tar.gz --key releases', 'Accept a signature of this key only'],
  ],
  'kms gateway': [
    ['skerry kms gateway', 'Serve all keys that you hold to AWS SDKs'],
    ['skerry kms gateway --key invoices --port 4800', 'Serve one key on another port'],
  ],
} as const
