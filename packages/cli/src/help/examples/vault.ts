/** Examples of the vault, which stores the accounts of a product's users. */
export const vault = {
  vault: [
    ['skerry vault project create planner', 'Create a project for a product'],
    ['skerry vault connection ls --user-ref customer-17', 'List the accounts that a person has connected'],
  ],
  'vault project': [
    ['skerry vault project create planner', 'Create a project for a product'],
    ['skerry vault project show planner', 'Show a project, its platform keys and its executor'],
  ],
  'vault project ls': [
    ['skerry vault project ls', 'List the projects'],
    ['skerry vault project ls --json', 'Print the projects as JSON'],
  ],
  'vault project create': [
    ['skerry vault project create planner --shown-as "Planner"', 'Create a project and choose its public name'],
    ['skerry vault project create planner --return-origin https://app.example.com', 'Let people return to this origin'],
  ],
  'vault project show': [
    ['skerry vault project show planner', 'Show a project, its platform keys and its executor'],
    ['skerry vault project show planner --json', 'Print a project as JSON'],
  ],
  'vault project edit': [
    ['skerry vault project edit planner --shown-as "Planner" --accent "#3366cc"', 'Change the name and color'],
    ['skerry vault project edit planner --logo https://app.example.com/logo.png', 'Change the logo'],
  ],
  'vault project enable': [
    ['skerry vault project enable planner', 'Allow the use of a disabled project'],
    ['skerry vault project enable vpj_7Kq2mXw4RtB9vLs1NdYf3c', 'Enable a project by its id'],
  ],
  'vault project disable': [
    ['skerry vault project disable planner', 'Stop all use of a project’s credentials'],
    ['skerry vault project disable planner --yes', 'Stop all use without a question'],
  ],
  'vault key': [
    ['skerry vault key create', 'Create a platform key in the dashboard'],
    ['skerry vault key ls', 'List the platform keys'],
  ],
  'vault key ls': [
    ['skerry vault key ls', 'List the platform keys of your only project'],
    ['skerry vault key ls --project planner', 'List the platform keys of a project'],
  ],
  'vault key create': [
    ['skerry vault key create', 'Create a platform key in the dashboard'],
    ['skerry vault key create --project planner --no-browser', 'Print the address of the dashboard page'],
  ],
  'vault key revoke': [
    ['skerry vault key revoke backend', 'Make a platform key invalid at once'],
    ['skerry vault key revoke vky_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'End a platform key by its id'],
  ],
  'vault executor': [
    ['skerry vault executor status', 'Show the active executor'],
    ['skerry vault executor register-code', 'Create a code for registering an executor'],
  ],
  'vault executor status': [
    ['skerry vault executor status', 'Show the active executor'],
    ['skerry vault executor status --project planner --json', 'Print the executor of a project as JSON'],
  ],
  'vault executor register-code': [
    ['skerry vault executor register-code', 'Open the dashboard to create a code'],
    ['skerry vault executor register-code --project planner --no-browser', 'Print the address of the dashboard page'],
  ],
  'vault executor disable': [
    ['skerry vault executor disable', 'Disable the executor of your only project'],
    ['skerry vault executor disable --project planner --yes', 'Disable an executor without a question'],
  ],
  'vault connection': [
    ['skerry vault connection ls --user-ref customer-17', 'List the accounts that a person has connected'],
    ['skerry vault connection revoke vcn_7Kq2mXw4RtB9vLs1NdYf3c', 'Delete the credentials of a connection'],
  ],
  'vault connection ls': [
    ['skerry vault connection ls --user-ref customer-17', 'List the accounts that a person has connected'],
    ['skerry vault connection ls --status reauth_required', 'List the accounts that must be connected again'],
  ],
  'vault connection show': [
    ['skerry vault connection show vcn_7Kq2mXw4RtB9vLs1NdYf3c', 'Show a connection'],
    ['skerry vault connection show vcn_7Kq2mXw4RtB9vLs1NdYf3c --json', 'Print a connection as JSON'],
  ],
  'vault connection revoke': [
    ['skerry vault connection revoke vcn_7Kq2mXw4RtB9vLs1NdYf3c', 'Delete the credentials of a connection'],
    ['skerry vault connection revoke vcn_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Delete them without a question'],
  ],
  'vault webhook': [
    ['skerry vault webhook create https://app.example.com/hooks', 'Send all events to your backend'],
    ['skerry vault webhook ls', 'List webhooks, and whether deliveries arrive'],
  ],
  'vault webhook ls': [
    ['skerry vault webhook ls', 'List webhooks, and whether deliveries arrive'],
    ['skerry vault webhook ls --project planner --json', 'Print the webhooks of a project as JSON'],
  ],
  'vault webhook create': [
    ['skerry vault webhook create https://app.example.com/hooks > signing-secret', 'Save the signing secret to a file'],
    [
      'skerry vault webhook create https://app.example.com/hooks --event connection.reauth_required',
      'Send one kind of event',
    ],
  ],
  'vault webhook show': [
    ['skerry vault webhook show https://app.example.com/hooks', 'Show a webhook by its URL'],
    ['skerry vault webhook show vwh_7Kq2mXw4RtB9vLs1NdYf3c --json', 'Print a webhook as JSON'],
  ],
  'vault webhook edit': [
    [
      'skerry vault webhook edit vwh_7Kq2mXw4RtB9vLs1NdYf3c https://app.example.com/events',
      'Change the URL and keep the signing secret',
    ],
    ['skerry vault webhook edit https://app.example.com/hooks --event connection.ready', 'Send one kind of event only'],
  ],
  'vault webhook enable': [
    ['skerry vault webhook enable https://app.example.com/hooks', 'Send the waiting events'],
    ['skerry vault webhook enable vwh_7Kq2mXw4RtB9vLs1NdYf3c', 'Enable a webhook by its id'],
  ],
  'vault webhook disable': [
    ['skerry vault webhook disable https://app.example.com/hooks', 'Stop sending events to a webhook'],
    ['skerry vault webhook disable vwh_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Stop sending without a question'],
  ],
  'vault webhook rm': [
    ['skerry vault webhook rm https://app.example.com/hooks', 'Delete a webhook with its waiting events'],
    ['skerry vault webhook rm vwh_7Kq2mXw4RtB9vLs1NdYf3c --yes', 'Delete a webhook by its id'],
  ],
  'vault webhook test': [
    ['skerry vault webhook test https://app.example.com/hooks', 'Send a sample event to a webhook'],
    ['skerry vault webhook test vwh_7Kq2mXw4RtB9vLs1NdYf3c --json', 'Print the answer of your backend as JSON'],
  ],
  'vault webhook deliveries': [
    ['skerry vault webhook deliveries https://app.example.com/hooks', 'List the last 50 deliveries'],
    [
      'skerry vault webhook deliveries https://app.example.com/hooks --status dead',
      'List deliveries that failed for good',
    ],
  ],
  'vault webhook redeliver': [
    [
      'skerry vault webhook redeliver https://app.example.com/hooks vwd_7Kq2mXw4RtB9vLs1NdYf3c',
      'Send a failed delivery again',
    ],
    [
      'skerry vault webhook redeliver vwh_7Kq2mXw4RtB9vLs1NdYf3c vwd_7Kq2mXw4RtB9vLs1NdYf3c --json',
      'Send it again and print the result as JSON',
    ],
  ],
} as const
