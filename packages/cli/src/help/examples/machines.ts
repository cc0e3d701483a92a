/** Examples of service tokens, machine clients and decoys. */
export const machines = {
  token: [
    ['skerry token create ci --app shop --env production', 'Create a token that reads and writes one environment'],
    ['skerry token revoke ci', 'End a token'],
  ],
  'token ls': [
    ['skerry token ls', 'List tokens and when each was last used'],
    ['skerry token ls --json', 'Print the tokens as JSON'],
  ],
  'token create': [
    ['skerry token create ci --app shop --env production --expires 90d', 'Create a token for one environment'],
    ['skerry token create backup --admin > admin-token', 'Save an admin token to a file'],
  ],
  'token show': [
    ['skerry token show ci', 'Show the role and the last use of a token, and what it can read'],
    ['skerry token show ci --json', 'Print the same as JSON'],
  ],
  'token rename': [
    ['skerry token rename ci github-actions', 'Change the name of a token'],
    ['skerry token rename skt_7Kq2mXw4RtB9vLs1NdYf3c deploy', 'Name the token by its id'],
  ],
  'token revoke': [
    ['skerry token revoke ci', 'End a token after a question'],
    ['skerry token revoke ci --end-leases --yes', 'End a token and its leases without a question'],
  ],
  'token rm': [
    ['skerry token rm ci', 'End a token and remove it from the list'],
    ['skerry token rm ci --end-leases --yes', 'Remove a token and end its leases'],
  ],
  'token register': [
    ['skerry token register --request > request.json', 'Prepare a request on the machine of the token'],
    ['skerry token register --from request.json', 'Register the token as an admin'],
  ],
  client: [
    ['skerry client create terraform', 'Create a machine client'],
    ['skerry client ls', 'List the machine clients'],
  ],
  'client ls': [
    ['skerry client ls', 'List the machine clients'],
    ['skerry client ls --json', 'Print the machine clients as JSON'],
  ],
  'client create': [
    ['skerry client create terraform', 'Create a machine client and print its secret once'],
    ['skerry client create terraform --json > client.json', 'Save the id and the secret to a file'],
  ],
  'client rotate': [
    ['skerry client rotate terraform', 'Replace the secret of a machine client'],
    ['skerry client rotate terraform --yes > client-secret', 'Save the new secret to a file'],
  ],
  'client revoke': [
    ['skerry client revoke terraform', 'End a machine client after a question'],
    ['skerry client revoke terraform --end-leases --yes', 'End a machine client and its leases'],
  ],
  honey: [
    ['skerry honey create "wiki page of the database"', 'Create a decoy and say where you put it'],
    ['skerry honey ls', 'Show which decoys were tried, and from where'],
  ],
  'honey ls': [
    ['skerry honey ls', 'Show which decoys were tried, and from where'],
    ['skerry honey ls --json', 'Print the decoys as JSON'],
  ],
  'honey create': [
    ['skerry honey create "wiki page of the database"', 'Create a decoy and say where you put it'],
    ['skerry honey create "old .env on build-1" --format classic', 'Create a decoy that looks like a classic token'],
  ],
  'honey rm': [
    ['skerry honey rm "wiki page of the database"', 'Delete a decoy by its placement'],
    ['skerry honey rm hny_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Delete a decoy by its id'],
  ],
} as const
