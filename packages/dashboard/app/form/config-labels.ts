/** Labels for fields whose name is not a good label. */
const labels: Record<string, string> = {
  accessLevel: 'Access level',
  allowCleartextPassword: 'Let the server read passwords without verified TLS',
  allowedPrincipals: 'Allowed login names',
  alphabet: 'Characters',
  alternateUsername: 'Second account',
  baseUrl: 'Base URL of the API',
  caCertificate: 'Certificates of the authority',
  caPublicKey: 'Public key of the authority',
  db: 'Logical database',
  executor: 'Signs in to the target',
  externalId: 'External ID',
  kind: 'What it is',
  kmsKeyId: 'KMS key',
  kmsKeyName: 'KMS key',
  maxTtlSeconds: 'Longest lifetime in seconds',
  maxConnections: 'Connections per lease',
  passwordLength: 'Length of passwords',
  provisionerTokenId: 'Service token of the provisioner',
  revokeStatements: 'Statements that revoke',
  roleArn: 'ARN of the role',
  rules: 'ACL rules',
  secret: 'Marked as secret',
  statements: 'Your own statements',
  tls: 'TLS',
  user: 'Login name',
  userHost: 'Host part of the account',
  username: 'Account',
  usernameSecret: 'Secret with the account’s name',
}

/** `createStatements` -> `Create statements` */
export function labelOf(path: string): string {
  const name = path.split('.').at(-1) ?? path
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return labels[name] ?? words.slice(0, 1).toUpperCase() + words.slice(1)
}
