/** Tasks of the first days: accounts, machines and project folders. */
export const start = [
  {
    title: 'Start with Skerry',
    words: 'first begin quick quickstart getting started setup install tutorial hello new project init',
    steps: [
      ['skerry signup "Acme"', 'Create an organization, and store its first token on this machine'],
      ['skerry init --app shop', 'Create an application for this folder'],
      ['skerry secrets set DATABASE_URL', 'Ask for a value and write it'],
      ['skerry run -- npm start', 'Start your program with the secrets'],
    ],
    document: 'docs/quick-start.md',
  },
  {
    title: 'Sign up and create an organization',
    words: 'register account signup tenant team company workspace new organisation',
    steps: [
      ['skerry signup "Acme"', 'Create an organization, and store its first token on this machine'],
      ['skerry open', 'Continue in the dashboard'],
    ],
    document: 'docs/quick-start.md',
  },
  {
    title: 'Sign in',
    words: 'login log in authenticate authentication account session browser auth signin',
    steps: [
      ['skerry login --url https://skerry.example.com', 'Approve the code in a browser'],
      ['skerry keys init', 'Create your keys, if you have none yet'],
      ['skerry whoami', 'Check who you are signed in as'],
    ],
    document: 'docs/people.md',
  },
  {
    title: 'Sign in on a second machine',
    words: 'another new laptop computer device desktop login',
    steps: [
      ['skerry login --url https://skerry.example.com', 'Approve the code in a browser'],
      ['skerry keys unlock', 'Unlock your keys with your passphrase'],
      ['skerry secrets ls', 'Check that you can read, in the project folder'],
    ],
    document: 'docs/people.md',
  },
  {
    title: 'Use an existing project',
    words: 'clone repository folder join setup configure link connect directory checkout skerry.json',
    steps: [
      ['skerry setup', 'Choose the application and the environment of this folder'],
      ['skerry secrets ls', 'List its secrets'],
      ['skerry run -- npm start', 'Start the program'],
    ],
    document: 'docs/quick-start.md',
  },
  {
    title: 'Sign out, or end the session of a lost laptop',
    words: 'logout log off lost stolen machine device computer revoke session',
    steps: [
      ['skerry logout', 'Sign this machine out'],
      ['skerry sessions ls', 'List the machines that you are signed in on'],
      ['skerry sessions revoke old-laptop', 'End the session of a lost machine'],
    ],
    document: 'docs/guides/lost-machine.md',
  },
  {
    title: 'Work with several organizations',
    words: 'multiple accounts profiles switch change server tenant customer workspace context',
    steps: [
      ['skerry login --url https://skerry.example.com --profile acme', 'Store a second credential'],
      ['skerry profile ls', 'List the stored credentials'],
      ['skerry profile use acme', 'Make one the default'],
      ['skerry secrets ls --profile acme --app shop --env production', 'Use one for a single command'],
    ],
    document: 'docs/people.md',
  },
  {
    title: 'Find out why something does not work',
    words: 'debug diagnose problem error broken trouble troubleshoot doctor check connection certificate health fails',
    steps: [
      ['skerry doctor', 'Check the server, your credential and this folder'],
      ['skerry whoami', 'Show which credential is used'],
      ['skerry env readers production', 'Show whether you can read an environment'],
      ['skerry secrets ls --debug', 'Print the stack trace of an error'],
    ],
    document: 'docs/command-line/names.md#connections',
  },
] as const
