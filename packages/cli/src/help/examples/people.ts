/** Examples of members, invitations, grants, sessions, keyrings and recovery. */
export const people = {
  members: [
    ['skerry members ls', 'List members, their roles and the words of their keys'],
    ['skerry members role bob@example.com admin', 'Make a member an admin'],
  ],
  'members ls': [
    ['skerry members ls', 'List members, their roles and the words of their keys'],
    ['skerry members ls --org acme --json', 'Print the members of Acme as JSON'],
  ],
  'members role': [
    ['skerry members role bob@example.com admin', 'Make a member an admin'],
    ['skerry members role bob@example.com member', 'Take the admin role from a member'],
  ],
  'members rm': [
    ['skerry members rm bob@example.com', 'Remove a member from the organization'],
    ['skerry members rm bob@example.com --end-leases --yes', 'Remove a member and end their leases'],
  ],
  'members offboard': [
    ['skerry members offboard bob@example.com', 'Remove a person and replace the keys that they had'],
    ['skerry members offboard bob@example.com --yes', 'Continue an offboarding without a question'],
  ],
  'members offboarding': [
    ['skerry members offboarding bob@example.com shop/production/API_KEY --done', 'Tick a value that was replaced'],
    ['skerry members offboarding bob@example.com shop/production --hand-to eve@example.com', 'Hand a row to an admin'],
  ],
  'members trust': [
    ['skerry members trust bob@example.com', 'Compare the words of a new key and accept it'],
    ['skerry members trust bob@example.com --yes', 'Accept a key whose words you compared before'],
  ],
  invite: [
    ['skerry invite create bob@example.com', 'Invite a person as a member'],
    ['skerry invite ls', 'List the open invitations'],
  ],
  'invite ls': [
    ['skerry invite ls', 'List the open invitations'],
    ['skerry invite ls --status accepted', 'List the invitations that were accepted'],
  ],
  'invite create': [
    ['skerry invite create bob@example.com', 'Invite a person as a member'],
    ['skerry invite create ada@example.com --role admin', 'Invite a person as an admin'],
  ],
  'invite resend': [
    ['skerry invite resend bob@example.com', 'Send the invitation again'],
    ['skerry invite resend bob@example.com --org acme', 'Send an invitation to Acme again'],
  ],
  'invite rm': [
    ['skerry invite rm bob@example.com', 'Withdraw an invitation'],
    ['skerry invite rm bob@example.com --yes', 'Withdraw an invitation without a question'],
  ],
  'invite mine': [
    ['skerry invite mine', 'List the organizations that invite you'],
    ['skerry invite mine --json', 'Print your invitations as JSON'],
  ],
  'invite accept': [
    ['skerry invite accept', 'Accept your only invitation'],
    ['skerry invite accept acme --code', 'Join acme with the joining code that you were told'],
  ],
  'invite decline': [
    ['skerry invite decline acme', 'Decline the invitation of acme'],
    ['skerry invite decline acme --yes', 'Decline it without a question'],
  ],
  grant: [
    ['skerry grant bob@example.com --env production', 'Let a member read production'],
    ['skerry grant bob@example.com --env production --for 8h', 'Let a member read production for eight hours'],
  ],
  'grant ls': [
    ['skerry grant ls', 'List who can read this folder’s environment'],
    ['skerry grant ls --app shop --env production', 'List who can read production'],
  ],
  'grant revoke': [
    ['skerry grant revoke bob@example.com --env production', 'Take the key of production from a member'],
    ['skerry grant revoke ci --app shop --env production --yes', 'Take the key from a token without a question'],
  ],
  access: [
    ['skerry access ask shop/staging --reason "I fix the checkout"', 'Ask for an environment'],
    ['skerry access ls', 'List open requests'],
  ],
  'access ask': [
    ['skerry access ask shop/staging --reason "I fix the checkout"', 'Ask for an environment'],
    ['skerry access ask shop/production --for 8h', 'Ask for an environment for eight hours'],
  ],
  'access ls': [
    ['skerry access ls', 'List open requests'],
    ['skerry access ls --status any --json', 'Print all requests as JSON'],
  ],
  'access grant': [
    ['skerry access grant bob@example.com', 'Give a member what they asked for'],
    ['skerry access grant bob@example.com --yes', 'Give it without a question'],
  ],
  'access map': [
    ['skerry access map', 'List who can read which environment'],
    ['skerry access map bob@example.com', 'List what a member can read'],
  ],
  'access complete': [
    ['skerry access complete', 'Grant the keys that teams ask for'],
    ['skerry access complete shop/staging --member bob@example.com --yes', 'Grant one of them without a question'],
  ],
  'access plan': [
    ['skerry access plan bob@example.com', 'List the planned environments of a person'],
    ['skerry access plan bob@example.com shop/production', 'Plan an environment for a person'],
  ],
  teams: [
    ['skerry teams ls', 'List teams'],
    ['skerry teams create payments', 'Create a team'],
  ],
  'teams ls': [
    ['skerry teams ls', 'List teams'],
    ['skerry teams ls --json', 'Print teams as JSON'],
  ],
  'teams create': [
    ['skerry teams create payments', 'Create a team'],
    ['skerry teams create "Web shop"', 'Create a team whose name has a blank'],
  ],
  'teams show': [
    ['skerry teams show payments', 'Show the people and environments of a team'],
    ['skerry teams show payments --json', 'Print a team as JSON'],
  ],
  'teams rename': [
    ['skerry teams rename payments billing', 'Rename a team'],
    ['skerry teams rename payments billing --json', 'Rename a team and print it as JSON'],
  ],
  'teams rm': [
    ['skerry teams rm payments', 'Delete a team'],
    ['skerry teams rm payments --yes', 'Delete a team without a question'],
  ],
  'teams include': [
    ['skerry teams include payments bob@example.com', 'Add a person to a team'],
    ['skerry teams include payments bob@example.com hana@example.com', 'Add two people to a team'],
  ],
  'teams exclude': [
    ['skerry teams exclude payments bob@example.com', 'Remove a person from a team'],
    ['skerry teams exclude payments bob@example.com --yes', 'Remove a person without a question'],
  ],
  'teams grant': [
    ['skerry teams grant payments shop/staging shop/development', 'Give two environments to a team'],
    ['skerry teams grant payments --app shop --env staging --env development', 'Give environments of an application'],
  ],
  'teams revoke': [
    ['skerry teams revoke payments shop/production', 'Take an environment from a team'],
    ['skerry teams revoke payments --app shop --yes', 'Take every environment of an application from a team'],
  ],
  'access decline': [
    ['skerry access decline bob@example.com', 'Decline a request'],
    ['skerry access decline bob@example.com --reason "use staging"', 'Decline a request and say why'],
  ],
  'access withdraw': [
    ['skerry access withdraw acr_0123456789abcdefghijkl', 'Withdraw your request'],
    ['skerry access withdraw acr_0123456789abcdefghijkl --json', 'Take it back and print it as JSON'],
  ],
  sessions: [
    ['skerry sessions ls', 'List the machines that you are signed in on'],
    ['skerry sessions revoke old-laptop', 'End the session of a machine'],
  ],
  'sessions ls': [
    ['skerry sessions ls', 'List the machines that you are signed in on'],
    ['skerry sessions ls --json', 'Print your sessions as JSON'],
  ],
  'sessions revoke': [
    ['skerry sessions revoke old-laptop', 'End the session of a machine'],
    ['skerry sessions revoke old-laptop --yes', 'End it without a question'],
  ],
  keys: [
    ['skerry keys init', 'Create your keys and choose a passphrase'],
    ['skerry keys unlock --for 8h', 'Type the passphrase once for a day of work'],
  ],
  'keys status': [
    ['skerry keys status', 'Show whether your keyring is unlocked'],
    ['skerry keys status --json', 'Print the state of the keyring as JSON'],
  ],
  'keys init': [
    ['skerry keys init', 'Create your keys and choose a passphrase'],
    ['skerry keys init --json', 'Create your keys and print the public key as JSON'],
  ],
  'keys unlock': [
    ['skerry keys unlock', 'Unlock until you did not use it for 15 minutes'],
    ['skerry keys unlock --for 8h', 'Type the passphrase once for a day of work'],
  ],
  'keys lock': [
    ['skerry keys lock', 'Remove your private key from memory'],
    ['skerry keys lock --profile acme', 'Lock the keyring of another stored credential'],
  ],
  'keys fingerprint': [
    ['skerry keys fingerprint', 'Print the twelve words of your key'],
    ['skerry keys fingerprint --profile ci', 'Print the words of a stored token’s key'],
  ],
  'keys passkeys': [
    ['skerry keys passkeys', 'List your passkeys'],
    ['skerry keys passkeys --json', 'Print your passkeys as JSON'],
  ],
  'keys passphrase': [
    ['skerry keys passphrase', 'Change your passphrase, also with the code of your recovery kit'],
    ['skerry keys passphrase --new-file new-passphrase', 'Read the new passphrase from a file'],
  ],
  'keys kit': [
    ['skerry keys kit', 'Make a recovery kit and print its code'],
    ['skerry keys kit --remove', 'Remove your recovery kit'],
  ],
  'keys replace': [
    ['skerry keys replace', 'Make new keys after you lost the passphrase and have no recovery kit'],
    ['skerry keys replace --new-file new-passphrase --yes', 'Replace the keys in a script'],
  ],
  'keys trust': [
    ['skerry keys trust', 'Compare the words of your new keys and accept them'],
    ['skerry keys trust --yes', 'Accept keys whose words you compared before'],
  ],
  recovery: [
    ['skerry recovery status', 'Show what can be recovered, and by how many custodians'],
    ['skerry recovery request bob@example.com', 'Ask custodians to restore a member’s access'],
  ],
  'recovery status': [
    ['skerry recovery status', 'Show the recovery key and environments without recovery'],
    ['skerry recovery status --json', 'Print the state of the recovery as JSON'],
  ],
  'recovery setup': [
    [
      'skerry recovery setup --threshold 2 --custodian ada@example.com,bob@example.com,cyd@example.com',
      'Give three custodians a share, of which two are needed',
    ],
    [
      'skerry recovery setup --custodian ada@example.com --custodian bob@example.com',
      'Name each custodian in an option of its own',
    ],
  ],
  'recovery rotate': [
    ['skerry recovery rotate', 'Give the same custodians new shares'],
    [
      'skerry recovery rotate --threshold 2 --custodian ada@example.com,cyd@example.com,eve@example.com',
      'Choose other custodians',
    ],
  ],
  'recovery cover': [
    ['skerry recovery cover', 'Make all environments that you can read recoverable'],
    ['skerry recovery cover --reader recovery', 'Accept the recovery key without a question'],
  ],
  'recovery trust': [
    ['skerry recovery trust', 'Compare the words of the recovery key and accept it'],
    ['skerry recovery trust --yes', 'Accept a recovery key whose words you compared before'],
  ],
  'recovery disable': [
    ['skerry recovery disable', 'End recovery after a question'],
    ['skerry recovery disable --yes', 'End recovery without a question'],
  ],
  'recovery share': [
    ['skerry recovery share', 'Check your share as a custodian'],
    ['skerry recovery share --json', 'Print the words of the recovery key as JSON'],
  ],
  'recovery request': [
    ['skerry recovery request bob@example.com', 'Ask custodians to restore a member’s access'],
    ['skerry recovery request ci --reason "nobody else can read production"', 'Ask for the access of a token'],
  ],
  'recovery contribute': [
    ['skerry recovery contribute rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'Compare the words and give your share'],
    [
      'skerry recovery contribute rcr_7Kq2mXw4RtB9vLs1NdYf3c --words "$WORDS"',
      'Give your share with the words that you were told',
    ],
  ],
  'recovery complete': [
    ['skerry recovery complete rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'Get access to everything that is covered'],
    ['skerry recovery complete rcr_7Kq2mXw4RtB9vLs1NdYf3c --only shop/production', 'Get access to one environment'],
  ],
  'recovery cancel': [
    ['skerry recovery cancel rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'Cancel a request that nobody should have opened'],
    ['skerry recovery cancel rcr_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Cancel it without a question'],
  ],
  'recovery drill': [
    ['skerry recovery drill', 'Start a drill that restores nothing'],
    ['skerry recovery drill rcr_7Kq2mXw4RtB9vLs1NdYf3c', 'Finish a drill after the custodians contributed'],
  ],
} as const
