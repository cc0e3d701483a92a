import { type StateFile, stateFile } from './state.ts'

/** The server's answer to a registration. */
export interface Registration {
  server: string
  origin: string
  executorId: string
  projectId: string
  /** `skx_...`, shown once. */
  credential: string
}

export const registrationFile = (folder: string): StateFile<Registration> => stateFile(folder, 'registration.json')

/** @throws Error that says how to register. */
export async function readRegistration(folder: string): Promise<Registration> {
  const found = await registrationFile(folder).read()
  if (!found)
    throw new Error('this executor is not registered: ask an admin for a code, and run `skerry-executor register`')
  return found
}
