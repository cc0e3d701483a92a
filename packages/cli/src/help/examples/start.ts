/** Examples of signing in, of project folders, and of running programs. */
export const start = {
  '': [
    ['skerry init --app shop', 'Set up this folder for the application shop'],
    ['skerry run -- npm start', 'Start a program with its secrets as environment variables'],
  ],
  signup: [
    ['skerry signup "Acme"', 'Create the organization Acme and sign this machine in'],
    ['skerry signup "Acme" --slug acme-eu --profile acme-eu', 'Choose the slug and the name of the stored credential'],
  ],
  login: [
    ['skerry login --url https://skerry.example.com', 'Sign in as a person, in a browser'],
    ['echo -n "$SKERRY_TOKEN" | skerry login --token --profile ci', 'Store a service token under the name ci'],
  ],
  logout: [
    ['skerry logout', 'Sign this machine out'],
    ['skerry logout --all --yes', 'Delete all stored credentials without a question'],
  ],
  whoami: [
    ['skerry whoami', 'Show your account, organization and server'],
    ['skerry whoami --profile ci --json', 'Print the owner of another stored credential as JSON'],
  ],
  init: [
    ['skerry init', 'Create an application with the name of this folder'],
    ['skerry init --app shop --env production', 'Choose the application and the environment'],
  ],
  setup: [
    ['skerry setup', 'Connect this folder to an existing application and environment'],
    ['skerry setup --app shop --env staging', 'Name the application and environment instead of choosing'],
  ],
  profile: [
    ['skerry profile ls', 'List the credentials that this machine has stored'],
    ['skerry profile use acme', 'Make another stored credential the default'],
  ],
  'profile ls': [
    ['skerry profile ls', 'List the credentials that this machine has stored'],
    ['skerry profile ls --json', 'Print the list for a script'],
  ],
  'profile use': [
    ['skerry profile use acme', 'Make the credential acme the default'],
    ['skerry profile use ci --json', 'Choose the credential ci and print the result as JSON'],
  ],
  'profile show': [
    ['skerry profile show', 'Show which credential commands use in this folder'],
    ['skerry profile show --profile acme', 'Show the stored credential acme'],
  ],
  'profile rm': [
    ['skerry profile rm old-laptop', 'Delete a stored credential from this machine'],
    ['skerry profile rm ci --yes', 'Delete it without a question'],
  ],
  doctor: [
    ['skerry doctor', 'Check the server, your credential and this folder'],
    ['skerry doctor --url https://skerry.example.com', 'Check the connection to another server'],
  ],
  open: [
    ['skerry open', 'Open the environment of this folder in the dashboard'],
    ['skerry open --env production --no-browser', 'Print the address of production'],
  ],
  run: [
    ['skerry run -- npm start', 'Start a program with the secrets of this folder'],
    ['skerry run --env production --only DATABASE_URL -- npm run migrate', 'Give a program one secret of production'],
  ],
  shell: [
    ['skerry shell', 'Start a shell with the secrets of this folder'],
    ['skerry shell --env staging --except STRIPE_KEY', 'Start a shell for staging without one secret'],
  ],
} as const
