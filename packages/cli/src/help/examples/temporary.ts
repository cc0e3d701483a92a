/** Examples of leases, SSH certificates, rotation and the provisioner. */
export const temporary = {
  lease: [
    ['skerry lease create shop-db -- psql', 'Open a database with an account that ends with psql'],
    ['skerry lease ls --live', 'List the leases that still work'],
  ],
  'lease target': [
    ['skerry lease target create shop-db --file admin-url', 'Register a database'],
    ['skerry lease target ls', 'List the targets'],
  ],
  'lease target ls': [
    ['skerry lease target ls', 'List the targets and whether each works'],
    ['skerry lease target ls --json', 'Print the targets with their settings as JSON'],
  ],
  'lease target create': [
    ['skerry lease target create shop-db --file admin-url --level readwrite', 'Register a database for read and write'],
    ['skerry lease target create hosts --file ssh_ca --principal deploy', 'Register an SSH certificate authority'],
  ],
  'lease target verify': [
    ['skerry lease target verify shop-db', 'Check that Skerry can still sign in'],
    ['skerry lease target verify shop-db --json', 'Print the result of the check as JSON'],
  ],
  'lease target trust': [
    ['skerry lease target trust shop-db', 'Compare the changed settings and accept them'],
    ['skerry lease target trust shop-db --yes', 'Accept settings that you compared before'],
  ],
  'lease target replace': [
    ['skerry lease target replace shop-db', 'Ask for a new admin credential'],
    ['skerry lease target replace shop-db --file admin-url --yes', 'Read the new credential from a file'],
  ],
  'lease target rm': [
    ['skerry lease target rm shop-db', 'Delete a target without live leases'],
    ['skerry lease target rm shop-db --force --yes', 'Delete a target that has live leases'],
  ],
  'lease create': [
    ['skerry lease create shop-db -- psql', 'Open a database with an account that ends with psql'],
    ['skerry lease create shop-db --ttl 15m --name report > .env', 'Save a temporary account for 15 minutes'],
  ],
  'lease ls': [
    ['skerry lease ls --live', 'List the leases that still work'],
    ['skerry lease ls --by bob@example.com --limit 10', 'List the last ten leases of a member'],
  ],
  'lease revoke': [
    ['skerry lease revoke report', 'End a lease by the name of its account'],
    ['skerry lease revoke lse_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'End a lease by its id'],
  ],
  'lease forget': [
    ['skerry lease forget report', 'Close a lease after you deleted its account yourself'],
    ['skerry lease forget lse_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Close a lease by its id'],
  ],
  ssh: [
    ['skerry ssh hosts deploy@web-1.example.com', 'Sign in to a host'],
    ['skerry ssh --ttl 1m hosts deploy@web-1.example.com uptime', 'Run one command on a host'],
  ],
  rotation: [
    ['skerry rotation create SESSION_KEY --every 30d', 'Replace a secret every 30 days'],
    ['skerry rotation ls', 'List what is rotated, and when next'],
  ],
  'rotation ls': [
    ['skerry rotation ls', 'List what is rotated, and when next'],
    ['skerry rotation ls --json', 'Print the rotations as JSON'],
  ],
  'rotation create': [
    ['skerry rotation create SESSION_KEY --every 30d --length 64 --now', 'Write a new random value every 30 days'],
    [
      'skerry rotation create DB_PASSWORD --every 7d --kind postgres --target shop-db --username app',
      'Rotate the password of a PostgreSQL account',
    ],
  ],
  'rotation edit': [
    ['skerry rotation edit DB_PASSWORD --every 1d', 'Rotate more often'],
    ['skerry rotation edit SESSION_KEY --unset length', 'Use the default length again'],
  ],
  'rotation show': [
    ['skerry rotation show DB_PASSWORD', 'Show the settings and the last error'],
    ['skerry rotation show rot_7Kq2mXw4RtB9vLs1NdYf3c', 'Show a rotation by its id'],
  ],
  'rotation run': [
    ['skerry rotation run DB_PASSWORD', 'Rotate now after a question'],
    ['skerry rotation run DB_PASSWORD --yes', 'Rotate now without a question'],
  ],
  'rotation pause': [
    ['skerry rotation pause DB_PASSWORD', 'Stop a rotation until you resume it'],
    ['skerry rotation pause rot_7Kq2mXw4RtB9vLs1NdYf3c', 'Pause a rotation by its id'],
  ],
  'rotation resume': [
    ['skerry rotation resume DB_PASSWORD', 'Continue a paused rotation'],
    ['skerry rotation resume rot_7Kq2mXw4RtB9vLs1NdYf3c', 'Resume a rotation by its id'],
  ],
  'rotation rm': [
    ['skerry rotation rm DB_PASSWORD', 'Stop rotating a secret and keep its value'],
    ['skerry rotation rm DB_PASSWORD --force --yes', 'Delete a rotation whose last run cannot be resolved'],
  ],
  'rotation trust': [
    ['skerry rotation trust', 'Accept the new key that the server shows for the rotator'],
    ['skerry rotation trust --yes', 'Accept it without a question'],
  ],
  provisioner: [
    ['skerry provisioner', 'Serve all targets that name this token'],
    ['skerry provisioner --allow db.internal:5432', 'Connect to this database only'],
  ],
} as const
