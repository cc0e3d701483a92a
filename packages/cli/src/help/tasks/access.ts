/** Tasks with people, their keys and recovery. */
export const access = [
  {
    title: 'Invite a new member',
    words: 'add person user colleague onboard onboarding access share team people organization give',
    steps: [
      ['skerry invite create bob@example.com', 'Invite the person by mail'],
      ['skerry members ls', 'Wait until they have joined and made their keys'],
      ['skerry grant bob@example.com --app shop --env production', 'Let them read an environment'],
    ],
    document: 'docs/first-week.md',
  },
  {
    title: 'Create a team',
    words: 'teams group of people department crew share environments set up',
    steps: [
      ['skerry teams create payments', 'Create the team'],
      ['skerry teams grant payments shop/staging shop/development', 'Give it environments'],
      ['skerry teams include payments bob@example.com', 'Add people'],
      ['skerry access complete', 'Grant the keys that they do not have yet'],
    ],
    document: 'docs/teams.md',
  },
  {
    title: 'Add a person to a team',
    words: 'teams include people join put into department',
    steps: [
      ['skerry teams include payments bob@example.com', 'Add a member of the organization'],
      ['skerry invite create hana@example.com --team payments', 'Or invite somebody who is no member yet'],
      ['skerry access complete', 'Grant the keys that the person does not have yet'],
      ['skerry teams show payments', 'Check which keys are still missing'],
    ],
    document: 'docs/teams.md#set-up-a-team',
  },
  {
    title: 'Remove a person from a team',
    words: 'teams exclude take out leave move department',
    steps: [
      ['skerry teams exclude payments bob@example.com', 'Remove the person and the keys of this team'],
      ['skerry env rekey staging', 'Replace the keys that the command names'],
    ],
    document: 'docs/teams.md#take-keys-away',
  },
  {
    title: 'Accept an invitation',
    words: 'join team organization invited new member employee onboarding',
    steps: [
      ['skerry login --url https://skerry.example.com', 'Sign in with the invited address'],
      ['skerry invite accept', 'Join the organization'],
      ['skerry keys init', 'Create your keys and choose a passphrase'],
      ['skerry keys fingerprint', 'Tell these words to the person who gives you access'],
    ],
    document: 'docs/people.md',
  },
  {
    title: 'Remove a member who leaves',
    words:
      'offboard offboarding leaving left employee fired someone somebody fire delete user revoke access person team colleague quit rekey',
    steps: [
      ['skerry members offboard bob@example.com', 'Remove the person, revoke what they made, and replace keys'],
      ['skerry members offboarding bob@example.com', 'See what remains, and who does it'],
      ['skerry rotation run DB_PASSWORD', 'Replace values that they know'],
      ['skerry members offboarding bob@example.com shop/production/API_KEY --done', 'Tick a value that was replaced'],
      ['skerry members offboarding bob@example.com --report bob.md', 'Write a report'],
      ['skerry members offboarding bob@example.com --finish', 'Finish the list'],
    ],
    document: 'docs/command-line/leaving.md',
  },
  {
    title: 'Give access for a limited time',
    words: 'temporary expire expiring access on call just in time jit break glass hours grant ends',
    steps: [
      ['skerry access ask shop/production --for 8h', 'As a member, ask for eight hours'],
      ['skerry access grant bob@example.com', 'As an admin, give what was asked for'],
      ['skerry grant bob@example.com --env production --for 8h', 'Or give it without a request'],
      ['skerry access map bob@example.com', 'See what the member can read, and until when'],
      ['skerry env rekey production', 'Replace the key when the access has ended'],
    ],
    document: 'docs/command-line/access.md#temporary-access',
  },
  {
    title: 'Change what a member may do',
    words: 'role permission admin owner rights access control rbac grant revoke read',
    steps: [
      ['skerry members role bob@example.com admin', 'Change the role in the organization'],
      ['skerry grant bob@example.com --app shop --env production', 'Let the member read an environment'],
      ['skerry grant revoke bob@example.com --app shop --env production', 'Take the key from the member'],
      ['skerry env readers production', 'Check who can read it'],
    ],
    document: 'docs/command-line/access.md#give-access',
  },
  {
    title: 'Keep a token from changing secrets',
    words:
      'limit read only read-only readonly token least privilege write permission scope service account ci protect restrict',
    steps: [
      [
        'skerry env protect production',
        'No token is read-only. In a protected environment, its writes wait for approval',
      ],
      ['skerry token create ci --app shop --env production', 'Create a token that reads, and can only propose'],
      ['skerry changes ls', 'See what it proposed'],
    ],
    document: 'docs/command-line/changes.md',
  },
  {
    title: 'Recover from a forgotten passphrase',
    words: 'forgot forgotten lost password reset passphrase kit code keyring locked unlock recover recovery',
    steps: [
      ['skerry keys passphrase', 'Enter the code of your recovery kit, and choose a new passphrase'],
      ['skerry keys replace', 'Without a kit: make new keys. You lose access until it is granted again'],
      ['skerry members trust bob@example.com', 'As an admin, compare the words of the new key'],
      ['skerry grant bob@example.com --app shop --env production', 'Or as a reader, give access again'],
      ['skerry recovery request bob@example.com', 'If nobody can read it, ask the custodians'],
    ],
    document: 'docs/recovery.md#i-forgot-my-passphrase',
  },
  {
    title: 'Change your passphrase',
    words: 'password keyring new update keys',
    steps: [
      ['skerry keys passphrase', 'Type the old and the new passphrase'],
      ['skerry keys unlock --for 8h', 'Unlock your keys for a day of work'],
    ],
    document: 'docs/people.md',
  },
  {
    title: 'Prepare for lost keys with recovery custodians',
    words: 'backup key escrow shamir share threshold unseal break glass recovery setup emergency kit',
    steps: [
      [
        'skerry recovery setup --threshold 2 --custodian ada@example.com,bob@example.com,cyd@example.com',
        'Give three custodians a share, of which two are needed',
      ],
      ['skerry recovery share', 'Let each custodian check the share'],
      ['skerry recovery status', 'Show environments that are not covered'],
      ['skerry recovery drill', 'Rehearse a recovery'],
    ],
    document: 'docs/recovery.md#setting-it-up',
  },
  {
    title: 'Restore access with custodians',
    words: 'recover recovery ceremony request contribute share unlock nobody can read lost key',
    steps: [
      ['skerry recovery request bob@example.com', 'As an admin, open a request'],
      ['skerry recovery contribute rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'As a custodian, compare the words'],
      ['skerry recovery complete rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'As the person, get access again'],
      ['skerry recovery rotate', 'Replace the shares afterwards'],
    ],
    document: 'docs/recovery.md',
  },
  {
    title: 'Sign in after you lost your second factor',
    words: 'mfa 2fa totp authenticator phone passkey lost code backup codes otp',
    steps: [
      ['skerry open', 'Sign in to the dashboard with a recovery code'],
      ['skerry org mfa', 'Show whether the organization requires a second factor'],
      ['skerry org mfa off', 'If nobody has one, turn it off with an admin token'],
    ],
    document: 'docs/operations/people.md#mails-and-second-factors',
  },
  {
    title: 'Require a second factor of all members',
    words: 'mfa 2fa totp authenticator passkey security enforce two-factor',
    steps: [
      ['skerry org mfa on', 'Require a second factor'],
      ['skerry org mfa', 'Check the setting'],
    ],
    document: 'docs/operations/people.md#mails-and-second-factors',
  },
] as const
