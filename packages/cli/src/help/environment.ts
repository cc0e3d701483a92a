/** The part of `skerry --help` that names environment variables and exit codes. */
export const environmentHelp = [
  `Environment variables:
  SKERRY_TOKEN              service token, or session of a person
  SKERRY_TOKEN_FILE         file with the service token, such as a mounted secret of a container
  SKERRY_CLIENT_ID, SKERRY_CLIENT_SECRET
                            machine client
  SKERRY_PROFILE            stored credential to use
  SKERRY_URL                server (default: http://127.0.0.1:4700)
  SKERRY_ORG, SKERRY_APP, SKERRY_ENV, SKERRY_BRANCH
                            organization and environment
  SKERRY_PASSPHRASE_FILE    file with the passphrase of your keyring
  SKERRY_STRICT=1           refuse every unexpected change of an environment, instead of a warning for some
  SKERRY_KEYRING=off        do not use the keyring of the operating system
  SKERRY_ALLOW_INSECURE=1   send credentials over http:// to another machine
  NO_COLOR                  print no colors

Options come first, then variables, then skerry.json, then the stored credential.`,
  `
Exit codes:
  0  done                       5    conflict: the object has changed, or exists already
  1  failed                     6    the server is unavailable
  2  wrong command line         126  the program cannot be executed
  3  not signed in or allowed   127  the program was not found
  4  not found                  130  interrupted
\`skerry run\` exits with the code of its program.`,
]
