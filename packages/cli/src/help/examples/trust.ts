/** Examples of the signed directory. */
export const trust = {
  trust: [
    ['skerry trust init', 'Start the signed directory of your organization'],
    ['skerry trust status', 'Show the signers of the signed directory, and unsigned changes'],
  ],
  'trust status': [
    ['skerry trust status', 'Show the signers, and each change that nobody signed'],
    ['skerry trust status --json', 'Print the state of the signed directory as JSON'],
  ],
  'trust init': [
    ['skerry trust init', 'Sign everything that exists, after you compared the words of new keys'],
    ['skerry trust init --yes', 'Start without a question, if this machine knows every key'],
  ],
  'trust sign': [
    ['skerry trust sign', 'Read and sign everything that was changed without a signature'],
    ['skerry trust sign shop/production bob@example.com', 'Sign one environment and one person'],
  ],
  'trust verify': [
    ['skerry trust verify', 'Check that the server shows what was signed'],
    ['skerry trust verify --json', 'Print the result as JSON, for a scheduled check'],
  ],
  'trust pin': [
    ['skerry trust pin --write', 'Print the newest pin and write it into skerry.json'],
    ['skerry trust pin mq4xQ2h0Jr1dT8vYc5nZb7wKf3sLg9uPa6eRi0oWt2E', 'Trust the pin that a colleague read out'],
  ],
  'trust approve': [
    ['skerry trust approve root.txt', 'Add your signature to a change of the signers'],
    ['skerry trust approve - --yes < root.txt', 'Read the change from stdin, without a question'],
  ],
  'trust signers': [
    ['skerry trust signers', 'List the people and tokens that sign'],
    ['skerry trust signers rm bob@example.com', 'Remove a person from the signers'],
  ],
  'trust signers ls': [
    ['skerry trust signers ls', 'List the people and tokens that sign'],
    ['skerry trust signers ls --json', 'Print the signers as JSON'],
  ],
  'trust signers offer': [
    ['skerry trust signers offer', 'Print your signing key, for a signer who adds you'],
    ['skerry trust signers offer --profile ci', 'Print the signing key of a stored admin token'],
  ],
  'trust signers create': [
    ['skerry trust signers create bob@example.com --key "$OFFER"', 'Let Bob sign, after you compared the words'],
    [
      'skerry trust signers create bob@example.com --key "$OFFER" --threshold 2',
      'Let Bob sign, and ask for two signatures from then on',
    ],
  ],
  'trust signers rm': [
    ['skerry trust signers rm bob@example.com', 'Remove a person from the signers'],
    ['skerry trust signers rm bob@example.com --threshold 1', 'Also ask for one signature only'],
  ],
  'trust signers edit': [
    ['skerry trust signers edit --threshold 2', 'Ask for two signatures when the signers change'],
    ['skerry trust signers edit --threshold 1', 'Ask for one signature when the signers change'],
  ],
  'trust rescue': [
    ['skerry trust rescue setup', 'Make three rescue codes, of which two are needed'],
    ['skerry trust rescue use', 'Become the only signer, with rescue codes'],
  ],
  'trust rescue setup': [
    ['skerry trust rescue setup', 'Make three rescue codes, of which two are needed'],
    ['skerry trust rescue setup --codes 5 --threshold 3', 'Make five codes, of which three are needed'],
  ],
  'trust rescue use': [
    ['skerry trust rescue use', 'Type the codes, and become the only signer'],
    ['skerry trust rescue use --yes < codes.txt', 'Read the codes from a file, one a line'],
  ],
} as const
